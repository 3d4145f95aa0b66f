/** What the bot itself says, and how it names a correction. */
export interface OwnTexts {
  /** To someone who starts the bot, where the project has no greeting of its own. */
  greeting: string;
  help: string;
  /** Before the new text of a message that was edited. */
  correction: string;
}

const ENGLISH: OwnTexts = {
  greeting: "Hello! Write your question here and I’ll answer it. You can also send photos and files.",
  help: "Ask your question in your own words. You can send photos, files and voice messages, and edit a message to correct it. If I don’t know the answer, a member of our team will reply here. In a group, mention me or reply to one of my messages.",
  correction: "Correction",
};

/** By the primary tag of a language (BCP 47), as Telegram tells it of its users. */
const TEXTS: Readonly<Record<string, OwnTexts>> = {
  en: ENGLISH,
  de: {
    greeting: "Hallo! Schreiben Sie hier Ihre Frage, ich beantworte sie. Sie können auch Fotos und Dateien senden.",
    help: "Stellen Sie Ihre Frage in eigenen Worten. Sie können Fotos, Dateien und Sprachnachrichten senden und eine Nachricht bearbeiten, um sie zu korrigieren. Wenn ich die Antwort nicht weiß, antwortet Ihnen hier jemand aus unserem Team. In einer Gruppe erwähnen Sie mich oder antworten Sie auf eine meiner Nachrichten.",
    correction: "Korrektur",
  },
  fr: {
    greeting:
      "Bonjour ! Écrivez votre question ici et j’y répondrai. Vous pouvez aussi envoyer des photos et des fichiers.",
    help: "Posez votre question avec vos propres mots. Vous pouvez envoyer des photos, des fichiers et des messages vocaux, et modifier un message pour le corriger. Si je ne connais pas la réponse, un membre de notre équipe vous répondra ici. Dans un groupe, mentionnez-moi ou répondez à l’un de mes messages.",
    correction: "Correction",
  },
  es: {
    greeting: "¡Hola! Escribe aquí tu pregunta y la responderé. También puedes enviar fotos y archivos.",
    help: "Haz tu pregunta con tus propias palabras. Puedes enviar fotos, archivos y mensajes de voz, y editar un mensaje para corregirlo. Si no sé la respuesta, alguien de nuestro equipo te responderá aquí. En un grupo, mencióname o responde a uno de mis mensajes.",
    correction: "Corrección",
  },
  it: {
    greeting: "Ciao! Scrivi qui la tua domanda e ti risponderò. Puoi inviare anche foto e file.",
    help: "Fai la tua domanda con parole tue. Puoi inviare foto, file e messaggi vocali, e modificare un messaggio per correggerlo. Se non conosco la risposta, ti risponderà qui un membro del nostro team. In un gruppo, menzionami o rispondi a un mio messaggio.",
    correction: "Correzione",
  },
  pt: {
    greeting: "Olá! Escreva aqui a sua pergunta e eu responderei. Você também pode enviar fotos e arquivos.",
    help: "Faça a sua pergunta com as suas palavras. Você pode enviar fotos, arquivos e mensagens de voz, e editar uma mensagem para corrigi-la. Se eu não souber a resposta, alguém da nossa equipe vai responder aqui. Em um grupo, mencione-me ou responda a uma das minhas mensagens.",
    correction: "Correção",
  },
  nl: {
    greeting: "Hallo! Stel hier uw vraag, dan beantwoord ik die. U kunt ook foto’s en bestanden sturen.",
    help: "Stel uw vraag in uw eigen woorden. U kunt foto’s, bestanden en spraakberichten sturen en een bericht bewerken om het te corrigeren. Als ik het antwoord niet weet, antwoordt iemand van ons team u hier. Vermeld mij in een groep of beantwoord een van mijn berichten.",
    correction: "Correctie",
  },
  pl: {
    greeting: "Dzień dobry! Napisz tutaj swoje pytanie, a odpowiem. Możesz też przesłać zdjęcia i pliki.",
    help: "Zadaj pytanie własnymi słowami. Możesz przesyłać zdjęcia, pliki i wiadomości głosowe oraz edytować wiadomość, aby ją poprawić. Jeśli nie znam odpowiedzi, odpowie Ci tutaj ktoś z naszego zespołu. W grupie wspomnij o mnie lub odpowiedz na jedną z moich wiadomości.",
    correction: "Poprawka",
  },
  ru: {
    greeting: "Здравствуйте! Напишите здесь свой вопрос, и я отвечу. Можно также присылать фотографии и файлы.",
    help: "Напишите вопрос своими словами. Можно присылать фотографии, файлы и голосовые сообщения, а чтобы исправить сообщение, отредактируйте его. Если я не знаю ответа, вам здесь ответит наш сотрудник. В группе упомяните меня или ответьте на одно из моих сообщений.",
    correction: "Исправление",
  },
  uk: {
    greeting: "Вітаю! Напишіть тут ваше запитання, і я відповім. Можна надсилати фото та файли.",
    help: "Напишіть запитання своїми словами. Можна надсилати фото, файли та голосові повідомлення, а щоб виправити повідомлення, відредагуйте його. Якщо я не знаю відповіді, тут відповість хтось із нашої команди. У групі згадайте мене або дайте відповідь на одне з моїх повідомлень.",
    correction: "Виправлення",
  },
  tr: {
    greeting: "Merhaba! Sorunuzu buraya yazın, yanıtlayayım. Fotoğraf ve dosya da gönderebilirsiniz.",
    help: "Sorunuzu kendi sözlerinizle yazın. Fotoğraf, dosya ve sesli mesaj gönderebilir, bir mesajı düzeltmek için düzenleyebilirsiniz. Yanıtı bilmediğimde ekibimizden biri size buradan yanıt verir. Bir grupta benden bahsedin veya mesajlarımdan birine yanıt verin.",
    correction: "Düzeltme",
  },
};

/** What the bot says to someone whose app has this language; in English where it has no other. */
export function ownTexts(languageCode: string | undefined): OwnTexts {
  const primary = languageCode?.split("-")[0]?.toLowerCase() ?? "";
  return Object.hasOwn(TEXTS, primary) ? (TEXTS[primary] ?? ENGLISH) : ENGLISH;
}
