/** What the bot itself says, and how it names a correction. */
export interface OwnTexts {
  /** To someone who starts the bot, where the project has no greeting of its own. */
  greeting: string;
  help: string;
  /** Before the new text of a message that was edited. */
  correction: string;
}

const ENGLISH: OwnTexts = {
  greeting: "Hello! Write your question here, and I will answer it. Photos and files are welcome too.",
  help: "Write your question in your own words. You can send photos, files and voice messages, and edit a message to correct it. Where I do not know the answer, a person of our team answers here. In a group, mention me or reply to me.",
  correction: "Correction",
};

/** By the primary tag of a language (BCP 47), as Telegram tells it of its users. */
const TEXTS: Readonly<Record<string, OwnTexts>> = {
  en: ENGLISH,
  de: {
    greeting: "Guten Tag! Schreiben Sie hier Ihre Frage, ich beantworte sie. Auch Fotos und Dateien sind willkommen.",
    help: "Schreiben Sie Ihre Frage mit eigenen Worten. Sie können Fotos, Dateien und Sprachnachrichten senden und eine Nachricht bearbeiten, um sie zu berichtigen. Wo ich die Antwort nicht weiß, antwortet hier jemand aus unserem Team. In einer Gruppe erwähnen Sie mich oder antworten auf meine Nachricht.",
    correction: "Berichtigung",
  },
  fr: {
    greeting:
      "Bonjour ! Écrivez votre question ici, j’y répondrai. Les photos et les fichiers sont aussi les bienvenus.",
    help: "Écrivez votre question avec vos propres mots. Vous pouvez envoyer des photos, des fichiers et des messages vocaux, et modifier un message pour le corriger. Si je ne connais pas la réponse, une personne de notre équipe répond ici. Dans un groupe, mentionnez-moi ou répondez à mon message.",
    correction: "Correction",
  },
  es: {
    greeting: "¡Hola! Escriba aquí su pregunta y la responderé. También puede enviar fotos y archivos.",
    help: "Escriba su pregunta con sus propias palabras. Puede enviar fotos, archivos y mensajes de voz, y editar un mensaje para corregirlo. Si no sé la respuesta, una persona de nuestro equipo responde aquí. En un grupo, mencióneme o responda a mi mensaje.",
    correction: "Corrección",
  },
  it: {
    greeting: "Buongiorno! Scriva qui la sua domanda e risponderò. Può inviare anche foto e file.",
    help: "Scriva la domanda con parole sue. Può inviare foto, file e messaggi vocali, e modificare un messaggio per correggerlo. Se non conosco la risposta, risponde qui una persona del nostro team. In un gruppo mi menzioni o risponda a un mio messaggio.",
    correction: "Correzione",
  },
  pt: {
    greeting: "Olá! Escreva aqui a sua pergunta e eu responderei. Também pode enviar fotos e ficheiros.",
    help: "Escreva a sua pergunta com as suas palavras. Pode enviar fotos, ficheiros e mensagens de voz, e editar uma mensagem para a corrigir. Se eu não souber a resposta, uma pessoa da nossa equipa responde aqui. Num grupo, mencione-me ou responda à minha mensagem.",
    correction: "Correção",
  },
  nl: {
    greeting: "Hallo! Schrijf hier uw vraag, dan beantwoord ik die. Foto’s en bestanden zijn ook welkom.",
    help: "Schrijf uw vraag in uw eigen woorden. U kunt foto’s, bestanden en spraakberichten sturen, en een bericht bewerken om het te verbeteren. Weet ik het antwoord niet, dan antwoordt hier iemand van ons team. Noem mij in een groep of antwoord op mijn bericht.",
    correction: "Correctie",
  },
  pl: {
    greeting: "Dzień dobry! Proszę napisać tutaj pytanie, a odpowiem. Można też przesłać zdjęcia i pliki.",
    help: "Proszę napisać pytanie własnymi słowami. Można przesyłać zdjęcia, pliki i wiadomości głosowe oraz edytować wiadomość, aby ją poprawić. Gdy nie znam odpowiedzi, odpowie tutaj ktoś z naszego zespołu. W grupie proszę o mnie wspomnieć lub odpowiedzieć na moją wiadomość.",
    correction: "Poprawka",
  },
  ru: {
    greeting: "Здравствуйте! Напишите здесь ваш вопрос, и я отвечу. Можно присылать фотографии и файлы.",
    help: "Напишите вопрос своими словами. Можно присылать фотографии, файлы и голосовые сообщения, а чтобы исправить сообщение, отредактируйте его. Если я не знаю ответа, здесь ответит сотрудник. В группе упомяните меня или ответьте на моё сообщение.",
    correction: "Исправление",
  },
  uk: {
    greeting: "Вітаю! Напишіть тут ваше запитання, і я відповім. Можна надсилати фото та файли.",
    help: "Напишіть запитання своїми словами. Можна надсилати фото, файли та голосові повідомлення, а щоб виправити повідомлення, відредагуйте його. Якщо я не знаю відповіді, тут відповість хтось із нашої команди. У групі згадайте мене або дайте відповідь на моє повідомлення.",
    correction: "Виправлення",
  },
  tr: {
    greeting: "Merhaba! Sorunuzu buraya yazın, yanıtlayayım. Fotoğraf ve dosya da gönderebilirsiniz.",
    help: "Sorunuzu kendi sözlerinizle yazın. Fotoğraf, dosya ve sesli mesaj gönderebilir, düzeltmek için bir mesajı düzenleyebilirsiniz. Yanıtı bilmediğimde ekibimizden biri burada yanıtlar. Bir grupta benden bahsedin veya mesajıma yanıt verin.",
    correction: "Düzeltme",
  },
};

/** What the bot says to someone whose app has this language; in English where it has no other. */
export function ownTexts(languageCode: string | undefined): OwnTexts {
  const primary = languageCode?.split("-")[0]?.toLowerCase() ?? "";
  return Object.hasOwn(TEXTS, primary) ? (TEXTS[primary] ?? ENGLISH) : ENGLISH;
}
