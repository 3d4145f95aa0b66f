import { describe, expect, test } from "@jest/globals";
import { classifyMessage, contextAfter, asksForPerson } from "./classify-message.ts";
import { TALK_KINDS, talkByLanguage } from "./read-talk.ts";

describe("asksForPerson", () => {
  test.each([
    "I want to talk to a human",
    "Can I speak with a real person please?",
    "agent please",
    "Agent",
    "human!!",
    "Hello, operator please",
    "Please connect me to an agent.",
    "This does not help. Let me talk to someone.",
    "I need a human",
    "I need a human being who understands this",
    "I want an actual person right now",
    "I need a human. Nothing of this works.",
    "Ich will einen Menschen, sofort!",
    "Can somebody call me?",
    "Please call me",
    "I don't want to talk to a bot",
    "Ich möchte mit einem Menschen sprechen",
    "Kann ich bitte einen Mitarbeiter sprechen?",
    "Mitarbeiter bitte",
    "Rufen Sie mich bitte an!",
    "Je voudrais parler à un conseiller",
    "humain svp",
    "Quiero hablar con una persona",
    "Necesito un agente",
    "Vorrei parlare con un operatore",
    "Quero falar com um atendente",
    "Kan ik een medewerker spreken?",
    "Jag vill prata med en människa",
    "Jeg vil gerne tale med en medarbejder",
    "Jeg vil snakke med et menneske",
    "Haluan puhua ihmisen kanssa",
    "Хочу поговорить с человеком",
    "Позовите оператора",
    "Хочу поговорити з людиною",
    "Chcę rozmawiać z człowiekiem",
    "Chci mluvit s člověkem",
    "Vreau să vorbesc cu un operator",
    "Szeretnék egy ügyintézővel beszélni",
    "Bir insanla görüşmek istiyorum",
    "Θέλω να μιλήσω με άνθρωπο",
    "Saya ingin bicara dengan manusia",
    "Tôi muốn nói chuyện với người thật",
    "أريد التحدث مع موظف",
    "אני רוצה לדבר עם נציג",
    "می‌خواهم با اپراتور صحبت کنم",
    "मुझे किसी इंसान से बात करनी है",
    "オペレーターと話したいです",
    "转人工",
    "我要人工客服",
    "상담원과 통화하고 싶어요",
    "ขอคุยกับเจ้าหน้าที่",
  ])("%p asks for a person", (message) => {
    expect(asksForPerson(message)).toBe(true);
  });

  test.each([
    "How do I install the agent on Linux?",
    "How do I add a person to my account?",
    "I need to add a user to my team",
    "I need a manager role for my user",
    "Ich möchte einem Mitarbeiter Rechte geben",
    "Which agents support IPv6?",
    "When do backups run?",
    "Can a human eat this?",
    "My manager wants a report. How do I export one?",
    "Is the operator licensed?",
    "Please call me Jim from now on",
    "Do I need to speak to a representative to change my pin?",
    "Are you a human or a bot",
    "Wie lege ich einen Mitarbeiter an?",
    "Comment ajouter une personne à mon équipe ?",
    "¿Cómo agrego un agente?",
    "hello",
    "help",
    "",
  ])("%p does not", (message) => {
    expect(asksForPerson(message)).toBe(false);
  });
});

/** The languages of the widget. */
const WIDGET = "ar de en es fr he it ja nl pl pt ru tr uk zh".split(" ");

describe("classifyMessage", () => {
  test.each([
    ["Hello", "greeting", "en"],
    ["hi there!! 👋", "greeting", "en"],
    ["Good morning everyone", "greeting", "en"],
    ["Guten Tag!", "greeting", "de"],
    ["Bonjour à tous", "greeting", "fr"],
    ["¡Hola! ¿Qué tal?", "greeting", "es"],
    ["thanks a lot!", "thanks", "en"],
    ["ok, thank you very much for your help", "thanks", "en"],
    ["No thanks", "thanks", "en"],
    ["Vielen Dank für die Hilfe", "thanks", "de"],
    ["Merci beaucoup.", "thanks", "fr"],
    ["muchas gracias", "thanks", "es"],
    ["Bye!", "goodbye", "en"],
    ["Tschüss", "goodbye", "de"],
    ["Au revoir et bonne journée", "goodbye", "fr"],
    ["Hasta luego", "goodbye", "es"],
    ["Thanks, and goodbye!", "goodbye", "en"],
    ["Hallo, danke!", "thanks", "de"],
  ])("%s is small talk (%s) in its language", (text, kind, language) => {
    expect(classifyMessage(text)).toEqual({ kind, language });
  });

  test.each([
    ["👍", undefined, "thanks", null],
    ["😡", "de", "complaint", "de"],
    ["🚲", "de", "help", "de"],
    ["…", undefined, "help", null],
    ["🙏🏽", "de", "thanks", "de"],
    ["❤️", "pl", "thanks", "pl"],
    ["?", undefined, "help", null],
    ["??", "de", "help", "de"],
    ["help", "de", "help", "de"],
    ["Hilfe!", undefined, "help", "de"],
    ["Can you help me?", undefined, "help", "en"],
    ["Dobrý den", undefined, "greeting", "cs"],
    ["Dzięki!", undefined, "thanks", "pl"],
    ["Дякую!", undefined, "thanks", "uk"],
    ["こんにちは", undefined, "greeting", "ja"],
    ["谢谢", undefined, "thanks", "zh"],
    ["감사합니다", undefined, "thanks", "ko"],
    ["Xin chào", undefined, "greeting", "vi"],
    ["ขอบคุณครับ", undefined, "thanks", "th"],
    ["תודה רבה", undefined, "thanks", "he"],
    ["سلام", "fa", "greeting", "fa"],
  ])("%s in a chat in %s is small talk (%s, %s)", (text, language, topic, replied) => {
    expect(classifyMessage(text, { language })).toEqual({ kind: topic, language: replied });
  });

  test.each([
    ["hi", undefined, "en"],
    ["hi", "de", "de"],
    ["Hey!", "pt-BR", "pt"],
    ["thanks", "sv", "sv"],
    ["hi", "pl", "pl"],
    ["hi", "xx", "en"],
    ["ciao", "de", "de"],
    ["ciao", undefined, "it"],
    ["hallo", "nl", "nl"],
    ["hallo", undefined, "de"],
    ["Hola", "ca", "ca"],
    ["Hola", undefined, "es"],
    ["Guten Tag", "en", "de"],
    ["Hi, danke!", "en", "de"],
    ["Merci", "de", "de"],
  ])("%s in a chat in %s is answered in %s", (text, language, expected) => {
    expect(classifyMessage(text, { language }).language).toBe(expected);
  });

  test.each([
    ["Hello Anna", "greeting"],
    ["Hi Anna Maria, good morning 🌞", "greeting"],
    ["Guten Morgen Frau Meier!", "greeting"],
    ["Hi, how are you?", "greeting"],
    ["hellooooo", "greeting"],
    ["Thanks Peter!!! 🙏🙏", "thanks"],
    ["ok thank you, have a nice day :)", "goodbye"],
    ["Hi, thanks!", "thanks"],
    ["Спасибо, до свидания", "goodbye"],
    ["buenos dias", "greeting"],
    ["MERHABA", "greeting"],
  ])("%s: names, emoji, case, accents and punctuation change nothing (%s)", (text, topic) => {
    expect(classifyMessage(text).kind).toBe(topic);
  });

  test.each([
    "Hello, how do I reset my password?",
    "Thanks, but it still does not work",
    "hi can you help me with backups",
    "Danke, aber wo finde ich die Rechnung?",
    "What does 'hello' mean in the settings?",
    "hello world example",
    "Hi, is it free?",
    "Hi What Now",
    "Bonjour, je voudrais un remboursement",
    "Hola, ¿cuánto cuesta?",
    "Привет, как отменить заказ?",
    "Merhaba, şifremi unuttum",
    "नमस्ते, मेरा ऑर्डर कहाँ है?",
    "Hi Anna, where is my order?",
    "",
    "hello ".repeat(50),
    "ok, how do I cancel my subscription",
    "thanks, I also need the invoice for March",
    "what can you do about a lost parcel?",
    "are you open on Sundays?",
    "can you help me with my invoice",
    "how do I file a complaint?",
    "My order is late",
    "The exchange rate is not correct",
    "I'm angry, please cancel my account",
    "my email is not working",
    "Wie heißt die Option für den Export?",
    "Was kostet der Versand nach Österreich?",
    "¿Qué hago si pierdo la tarjeta?",
    "Que faire en cas de retard ?",
    "Можно ли вернуть товар?",
    "Як скасувати замовлення?",
    "パスワードを忘れました。どうすればいいですか",
    "返品の送料はいくらですか",
    "怎么取消订单",
    "退货需要多少钱",
    "كيف ألغي الطلب؟",
    "איך מבטלים הזמנה?",
    "Siparişimi nasıl iptal ederim?",
    "Jak zwrócić towar?",
    "Hoe kan ik mijn abonnement opzeggen?",
    "Come faccio a disdire?",
    "Como faço para cancelar?",
    "주문을 어떻게 취소하나요?",
  ])("%j asks the documents something, or says nothing", (text) => {
    expect(classifyMessage(text)).toEqual({ kind: "question", language: null });
  });

  test.each([
    "Ich möchte lieber mit jemandem persönlich sprechen",
    "Can somebody from the team give me a call please?",
    "Could someone from your team give me a call this afternoon?",
    "I'd rather speak with one of you",
    "Kann sich bitte jemand aus dem Team bei mir melden?",
    "Am liebsten würde ich mit jemandem direkt am Telefon sprechen",
    "Bitte um einen Rückruf",
    "¿Podría alguien de su equipo llamarme?",
    "Quelqu'un de votre équipe peut-il me rappeler ?",
    "Qualcuno del vostro team può richiamarmi?",
    "Kan iemand van jullie mij terugbellen?",
    "Может кто-нибудь из вас мне перезвонить?",
    "Prefiro falar pessoalmente com alguém",
    "どなたかから電話をいただけますか",
  ])("%j asks for a person", (text) => {
    expect(classifyMessage(text).kind).toBe("person");
  });

  test.each([
    "Please call me Jim from now on",
    "Do I need to speak to someone to change my pin?",
    "Wer kann sich bei einem Notfall melden?",
    "Can someone from my team use the same account?",
    "Wie melde ich jemanden aus dem Team an?",
  ])("%j asks for no person", (text) => {
    expect(classifyMessage(text).kind).not.toBe("person");
  });

  test.each([
    ["en", "thanks", "thank you so much, that was quick", "Thanks, that solved it!", "you really made my day"],
    ["en", "agreement", "got it, cool", "I'll give it a try later", "sounds good to me"],
    [
      "en",
      "complaint",
      "this is so frustrating",
      "I've been waiting for two weeks and nobody replies",
      "worst service ever",
    ],
    ["en", "bot", "are you a real human or just a machine?", "who am I talking to?", "hey, what's your name"],
    ["en", "abilities", "what can you do for me?", "how can you help me", "what kind of questions can I ask you?"],
    ["en", "statement", "my order number is 48213", "anna@example.com", "I live in Dublin"],
    ["en", "person", "give me your manager", "let me talk to a real person"],
    [
      "de",
      "thanks",
      "super, das hat geklappt, danke!",
      "vielen Dank für die schnelle Antwort",
      "perfekt, jetzt geht es wieder",
    ],
    [
      "de",
      "complaint",
      "ich bin wirklich sehr enttäuscht von euch",
      "ich warte jetzt schon drei Wochen",
      "so ein schlechter Service",
    ],
    [
      "de",
      "bot",
      "bist du eigentlich ein Mensch?",
      "schreibe ich hier mit einem Roboter oder mit einer echten Person?",
    ],
    ["de", "abilities", "Was kannst du alles?", "wobei können Sie mir helfen?"],
    ["de", "statement", "meine Kundennummer ist 771 234"],
    ["fr", "thanks", "merci beaucoup pour votre aide", "c'est bon, ça marche maintenant"],
    ["fr", "complaint", "c'est vraiment inadmissible", "j'en ai marre d'attendre"],
    ["fr", "bot", "êtes-vous un robot ?", "je parle à une vraie personne ?"],
    ["fr", "abilities", "que pouvez-vous faire pour moi ?"],
    ["es", "complaint", "estoy muy decepcionado con el servicio", "llevo tres semanas esperando"],
    ["es", "bot", "¿eres una persona o un robot?"],
    ["es", "abilities", "¿en qué puedes ayudarme?"],
    ["it", "complaint", "sono davvero delusa", "che servizio pessimo"],
    ["it", "bot", "sto parlando con una persona vera?"],
    ["pt", "complaint", "estou muito decepcionada com vocês"],
    ["pt", "bot", "você é um robô?"],
    ["nl", "complaint", "ik ben echt heel boos", "wat een slechte service"],
    ["nl", "bot", "ben je een robot of een mens?"],
    ["pl", "complaint", "jestem bardzo rozczarowana"],
    ["pl", "bot", "czy rozmawiam z człowiekiem?"],
    ["tr", "complaint", "gerçekten çok kötü bir hizmet"],
    ["tr", "bot", "sen bir robot musun?"],
    ["ru", "complaint", "я очень разочарована"],
    ["ru", "bot", "ты бот или человек?"],
    ["uk", "complaint", "я дуже розчарована"],
    ["uk", "bot", "ви робот?"],
    ["ar", "complaint", "أنا غاضب جدا"],
    ["ar", "bot", "هل أنت روبوت؟"],
    ["he", "complaint", "אני ממש מאוכזבת"],
    ["he", "bot", "אתה בוט או בן אדם?"],
    ["ja", "complaint", "対応がひどいです"],
    ["ja", "bot", "あなたはロボットですか？"],
    ["zh", "complaint", "服务太差了"],
    ["zh", "bot", "你是机器人吗？"],
    ["ko", "bot", "혹시 로봇인가요?"],
  ])("knows in %s what is %s, in whatever words", (_language, kind, ...texts) => {
    const kinds = texts.map((text) => [text, classifyMessage(text, { isAfterAnswer: true }).kind]);
    expect(kinds).toEqual(texts.map((text) => [text, kind]));
  });

  test("a word of consent that opens a conversation calls for help; after a reply it acknowledges", () => {
    expect(classifyMessage("ok").kind).toBe("help");
    expect(classifyMessage("ok", { isAfterAnswer: true }).kind).toBe("agreement");
    expect(classifyMessage("ok", { isAfterOperator: true }).kind).toBe("agreement");
  });

  test("after an operator's reply, what asks nothing tells that person something", () => {
    expect(classifyMessage("the large one in blue", { isAfterOperator: true }).kind).toBe("statement");
    expect(classifyMessage("how large is the blue one", { isAfterOperator: true }).kind).toBe("question");
    expect(classifyMessage("paint for the kitchen wall", { isAfterAnswer: true }).kind).toBe("question");
  });

  test.each(["The City. Thanks!", "Yes, thanks!", "No. Thank you", "ok", "Ja, danke", "👍", "Tuesday. Thanks!"])(
    "after an operator's question, %s is an answer to it",
    (text) => {
      const asked = contextAfter([
        { author: "customer", text: "My bike is broken" },
        { author: "operator", text: "Which model do you have?" },
        { author: "operator", text: "You will find it on the frame." },
      ]);
      expect(classifyMessage(text, asked).kind).toBe("statement");
      const told = contextAfter([{ author: "operator", text: "See https://example.com/?model=4" }]);
      expect(classifyMessage(text, told).kind).not.toBe("statement");
    },
  );

  test("a question of an operator is answered once", () => {
    const history = [
      { author: "operator", text: "Which model do you have?" },
      { author: "customer", text: "The City." },
    ];
    expect(classifyMessage("Thanks!", contextAfter(history)).kind).toBe("thanks");
  });

  test("takes time in proportion to the message", () => {
    const startedAt = performance.now();
    for (const text of ["so very ".repeat(20_000), "x".repeat(100_000), "好".repeat(50_000)]) classifyMessage(text);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe("the data of talk", () => {
  test.each([...talkByLanguage()])("%s: each phrase without alternatives is talk", (language, { phrases }) => {
    const plain = TALK_KINDS.flatMap((kind) =>
      kind === "statement" || kind === "complaint" ? [] : (phrases[kind] ?? []).map((phrase) => phrase),
    ).filter((phrase) => !/[()[\]<>…*~|]/.test(phrase));
    const missed = plain.filter(
      (phrase) => classifyMessage(phrase, { language, isAfterAnswer: true }).kind === "question",
    );
    expect(missed).toEqual([]);
  });

  test("has every automatic text in every language of the widget", () => {
    for (const language of WIDGET) {
      const replies = talkByLanguage().get(language)?.replies;
      expect(Object.keys(replies ?? {}).toSorted()).toEqual(
        "abilities added agreement bot goodbye greeting handoff help thanks".split(" "),
      );
      expect(replies?.abilities).toContain("{topics}");
    }
  });
});
