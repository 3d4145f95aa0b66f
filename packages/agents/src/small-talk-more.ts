import type { SmallTalkLanguage } from "./small-talk-phrases.ts";

/** The most frequent greetings, thanks and goodbyes of further languages, as ISO 639-1. */
export const MORE_SMALL_TALK: Readonly<Record<string, SmallTalkLanguage>> = {
  cs: {
    phrases: {
      greeting: `ahoj, čau, nazdar, dobrý den, dobré ráno, dobrý večer, zdravím`,
      thanks: `děkuji, děkuju, díky, moc děkuji, děkuji moc, díky moc, mockrát děkuji`,
      goodbye: `na shledanou, nashledanou, sbohem, měj se, hezký den, dobrou noc`,
    },
    fillers: `všem, moc, za, pomoc, vám, ano, ne, a`,
    replies: {
      greeting: "Dobrý den! Jak vám mohu pomoci?",
      thanks: "Rádo se stalo! Mohu vám ještě s něčím pomoci?",
      goodbye: "Na shledanou a děkujeme za vaši zprávu!",
    },
  },
  pl: {
    phrases: {
      greeting: `cześć, dzień dobry, dobry wieczór, witam, witaj, hejka, siema`,
      thanks: `dziękuję, dzięki, dziękuję bardzo, bardzo dziękuję, wielkie dzięki, dzięki wielkie`,
      goodbye: `do widzenia, do zobaczenia, na razie, miłego dnia, dobranoc, pa`,
    },
    fillers: `wszystkim, bardzo, za, pomoc, tak, nie, i`,
    replies: {
      greeting: "Dzień dobry! W czym mogę pomóc?",
      thanks: "Proszę bardzo! Czy mogę pomóc w czymś jeszcze?",
      goodbye: "Do widzenia i dziękujemy za wiadomość!",
    },
  },
  uk: {
    phrases: {
      greeting: `привіт, вітаю, добрий день, доброго дня, доброго ранку, добрий вечір`,
      thanks: `дякую, дуже дякую, щиро дякую`,
      goodbye: `до побачення, бувай, гарного дня, на добраніч`,
    },
    fillers: `усім, дуже, за, допомогу, вам, так, ні, і`,
    replies: {
      greeting: "Вітаю! Чим можу допомогти?",
      thanks: "Прошу! Чи можу я ще чимось допомогти?",
      goodbye: "До побачення, дякуємо за повідомлення!",
    },
  },
  ja: {
    phrases: {
      greeting: `こんにちは, こんばんは, おはよう, おはようございます, はじめまして, お世話になっております`,
      thanks: `ありがとう, ありがとうございます, ありがとうございました, どうもありがとう, どうもありがとうございます`,
      goodbye: `さようなら, またね, おやすみなさい, 失礼します`,
    },
    fillers: `はい, どうも`,
    replies: {
      greeting: "こんにちは！どのようなご用件でしょうか？",
      thanks: "どういたしまして！ほかにお手伝いできることはありますか？",
      goodbye: "ご連絡ありがとうございました。失礼いたします。",
    },
  },
  zh: {
    phrases: {
      greeting: `你好, 您好, 早上好, 下午好, 晚上好, 哈喽, 嗨`,
      thanks: `谢谢, 谢谢你, 谢谢您, 多谢, 非常感谢, 感谢, 謝謝, 謝謝你, 謝謝您`,
      goodbye: `再见, 再見, 拜拜, 晚安`,
    },
    fillers: `好的, 好, 大家, 请问`,
    replies: {
      greeting: "您好！请问有什么可以帮您？",
      thanks: "不客气！还有什么可以帮您的吗？",
      goodbye: "再见，感谢您的留言！",
    },
  },
  ko: {
    phrases: {
      greeting: `안녕하세요, 안녕, 안녕하십니까, 반갑습니다`,
      thanks: `감사합니다, 고맙습니다, 고마워요, 고마워, 감사해요, 정말 감사합니다`,
      goodbye: `안녕히 계세요, 안녕히 가세요, 수고하세요, 안녕히 주무세요`,
    },
    fillers: `네, 예, 정말, 대단히`,
    replies: {
      greeting: "안녕하세요! 무엇을 도와드릴까요?",
      thanks: "천만에요! 더 도와드릴 일이 있을까요?",
      goodbye: "문의해 주셔서 감사합니다. 안녕히 계세요!",
    },
  },
  vi: {
    phrases: {
      greeting: `xin chào, chào bạn, chào, chào anh, chào chị, chào buổi sáng`,
      thanks: `cảm ơn, cám ơn, cảm ơn bạn, cảm ơn nhiều, cảm ơn bạn nhiều, xin cảm ơn`,
      goodbye: `tạm biệt, hẹn gặp lại, chúc ngủ ngon`,
    },
    fillers: `rất, nhiều, vâng, dạ`,
    replies: {
      greeting: "Xin chào! Tôi có thể giúp gì cho bạn?",
      thanks: "Không có gì! Tôi có thể giúp gì thêm không?",
      goodbye: "Tạm biệt và cảm ơn bạn đã nhắn tin!",
    },
  },
  th: {
    phrases: {
      greeting: `สวัสดี, สวัสดีครับ, สวัสดีค่ะ, หวัดดี`,
      thanks: `ขอบคุณ, ขอบคุณครับ, ขอบคุณค่ะ, ขอบคุณมาก, ขอบคุณมากครับ, ขอบคุณมากค่ะ`,
      goodbye: `ลาก่อน, บ๊ายบาย`,
    },
    fillers: `ครับ, ค่ะ`,
    replies: {
      greeting: "สวัสดีค่ะ มีอะไรให้ช่วยไหมคะ",
      thanks: "ด้วยความยินดีค่ะ มีอะไรให้ช่วยอีกไหมคะ",
      goodbye: "ลาก่อนค่ะ ขอบคุณสำหรับข้อความ",
    },
  },
  he: {
    phrases: {
      greeting: `היי, הי, שלום לכם, בוקר טוב, ערב טוב, צהריים טובים, מה נשמע, מה שלומך`,
      thanks: `תודה, תודה רבה, המון תודה`,
      goodbye: `להתראות, ביי, לילה טוב, יום טוב`,
    },
    fillers: `לכולם, על, העזרה, כן, לא`,
    replies: {
      greeting: "שלום! איך אפשר לעזור?",
      thanks: "בשמחה! אפשר לעזור בעוד משהו?",
      goodbye: "להתראות ותודה על הפנייה!",
    },
  },
  fa: {
    phrases: {
      greeting: `سلام, درود, صبح بخیر, وقت بخیر, روز بخیر, عصر بخیر`,
      thanks: `ممنون, متشکرم, مرسی, خیلی ممنون, سپاس, سپاسگزارم, با تشکر, ممنونم`,
      goodbye: `خداحافظ, خدانگهدار, شب بخیر, فعلا`,
    },
    fillers: `خیلی, از, شما, بله, نه`,
    replies: {
      greeting: "سلام! چطور می‌توانم کمکتان کنم؟",
      thanks: "خواهش می‌کنم! کمک دیگری لازم دارید؟",
      goodbye: "خداحافظ و ممنون از پیام شما!",
    },
  },
};

/** How people call for help without saying with what, and what they are asked back. Phrases are separated by commas. */
export const HELP_WORDS: Readonly<Record<string, { phrases: string; reply: string }>> = {
  en: {
    phrases: `help, help me, please help, help please, please help me, i need help, i need some help, can you help,
      can you help me, could you help me, i have a question, i have a problem, question, support`,
    reply: "I'm happy to help. What would you like to know? Please write it in one sentence.",
  },
  de: {
    phrases: `hilfe, hilf mir, bitte hilfe, bitte helfen, ich brauche hilfe, kannst du mir helfen, können sie mir helfen,
      könnt ihr mir helfen, ich habe eine frage, ich hätte eine frage, ich habe ein problem, frage`,
    reply: "Ich helfe gern. Was möchten Sie wissen? Schreiben Sie es bitte in einem Satz.",
  },
  fr: {
    phrases: `aide, aidez moi, aide moi, à l'aide, j'ai besoin d'aide, j'ai une question, pouvez vous m'aider`,
    reply: "Je vous aide volontiers. Que souhaitez-vous savoir ? Écrivez-le en une phrase, s'il vous plaît.",
  },
  es: {
    phrases: `ayuda, ayúdame, ayúdenme, necesito ayuda, tengo una pregunta, tengo una duda, puedes ayudarme`,
    reply: "Con gusto le ayudo. ¿Qué desea saber? Escríbalo en una frase, por favor.",
  },
  it: {
    phrases: `aiuto, aiutami, aiutatemi, ho bisogno di aiuto, ho una domanda, potete aiutarmi, può aiutarmi`,
    reply: "Volentieri. Che cosa vorrebbe sapere? Lo scriva in una frase, per favore.",
  },
  pt: {
    phrases: `ajuda, me ajuda, me ajude, preciso de ajuda, tenho uma dúvida, tenho uma pergunta, pode me ajudar, socorro`,
    reply: "Com prazer. O que gostaria de saber? Escreva em uma frase, por favor.",
  },
  nl: {
    phrases: `help mij, hulp, ik heb hulp nodig, ik heb een vraag, kunt u mij helpen, kun je me helpen, vraag`,
    reply: "Ik help u graag. Wat wilt u weten? Schrijf het in één zin.",
  },
  sv: {
    phrases: `hjälp, hjälp mig, jag behöver hjälp, jag har en fråga`,
    reply: "Jag hjälper gärna till. Vad vill du veta? Skriv det i en mening.",
  },
  da: {
    phrases: `hjælp, hjælp mig, jeg har brug for hjælp, jeg har et spørgsmål`,
    reply: "Jeg hjælper gerne. Hvad vil du vide? Skriv det i én sætning.",
  },
  no: {
    phrases: `hjelp, hjelp meg, jeg trenger hjelp, jeg har et spørsmål`,
    reply: "Jeg hjelper gjerne. Hva vil du vite? Skriv det i én setning.",
  },
  ru: {
    phrases: `помощь, помогите, нужна помощь, мне нужна помощь, у меня вопрос, вопрос`,
    reply: "С удовольствием помогу. Что вы хотите узнать? Напишите одним предложением.",
  },
  pl: {
    phrases: `pomoc, pomocy, pomóżcie, potrzebuję pomocy, mam pytanie`,
    reply: "Chętnie pomogę. Co chce Pan lub Pani wiedzieć? Proszę napisać to w jednym zdaniu.",
  },
  cs: {
    phrases: `pomoc, pomozte, potřebuji pomoc, mám otázku, mám dotaz`,
    reply: "Rádi pomůžeme. Co chcete vědět? Napište to prosím jednou větou.",
  },
  tr: {
    phrases: `yardım, yardım edin, yardıma ihtiyacım var, bir sorum var`,
    reply: "Memnuniyetle yardımcı olurum. Ne öğrenmek istiyorsunuz? Lütfen bir cümleyle yazın.",
  },
};
