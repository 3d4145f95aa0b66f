/**
 * The widget's default texts in English, by name; for texts that depend on a number, the plural form. `title` and
 * `greeting` have settings of their own. A test compares them with the widget.
 */
export const WIDGET_STRINGS = {
  openChat: "Open chat",
  closeChat: "Close chat",
  unread: "{count} new messages",
  conversation: "Conversation",
  you: "You",
  agent: "Assistant",
  operator: "Support team",
  system: "Auto-reply",
  typing: "Writing a reply…",
  typingName: "{name} is typing…",
  chats: "Your conversations",
  newChat: "New conversation",
  back: "Back",
  chatsUnsent: "Send or delete your unsent messages first.",
  newMessages: "New messages",
  sending: "Sending…",
  waiting: "Will be sent when the connection is back",
  sent: "Sent",
  failed: "Not sent",
  retry: "Try again",
  discard: "Delete",
  connecting: "Connecting…",
  offline: "No connection. Your messages will be sent when the connection is back.",
  backOnline: "The connection is back.",
  messageLabel: "Your message",
  messagePlaceholder: "Write a message…",
  send: "Send",
  attach: "Attach a file",
  removeFile: "Remove {name}",
  uploading: "Uploading {name}: {percent}",
  dropFiles: "Drop files here",
  charactersLeft: "{count} characters left",
  download: "Download {name}",
  sources: "Sources",
  opensNewTab: "opens in a new tab",
  person: "Talk to a person",
  personMessage: "I would like to talk to a person.",
  personWaiting: "A member of our team will reply here.",
  done: "This conversation is closed. Send a message to reopen it.",
  rateQuestion: "How was this conversation?",
  rateVeryBad: "Very bad",
  rateBad: "Bad",
  rateOkay: "Okay",
  rateGood: "Good",
  rateVeryGood: "Very good",
  rateComment: "Anything to add? (optional)",
  rateSend: "Send rating",
  rateThanks: "Thanks for your feedback.",
  prechatIntro: "Let us know how to reach you.",
  prechatName: "Name",
  prechatEmail: "Email",
  prechatStart: "Start chat",
  prechatNameMissing: "Please enter your name.",
  prechatEmailInvalid: "Please enter a valid email address.",
  soundOn: "Turn sound on",
  soundOff: "Turn sound off",
  faultTooLong: "Your message is too long.",
  faultTooFast: "Too many messages at once. Please wait a moment.",
  faultRefused: "Your message can’t be sent.",
  faultStorage: "Messages can’t be saved right now. Please try again later.",
  faultFileTooLarge: "The file is larger than {size}.",
  faultFileEmpty: "The file is empty.",
  faultFileType: "This file type is not supported.",
  faultFileCount: "Up to {count} files per message.",
  faultFileGone: "The file is no longer available.",
  faultUpload: "The file could not be uploaded. Please try again.",
  faultDownload: "The file could not be downloaded. Please try again.",
  faultOther: "Something went wrong. Please try again.",
  refusedKey: "Chat is currently unavailable.",
  refusedOrigin: "Chat is not available on this website.",
  refusedIdentity: "Please sign in to use the chat.",
} as const satisfies Record<string, string>;

/** The widget's default texts in one of its languages that the preview shows. */
interface PreviewTexts {
  /** The native name of the language. */
  name: string;
  dir: "ltr" | "rtl";
  title: string;
  greeting: string;
  placeholder: string;
}

/** The languages of the widget. A test compares the texts with the widget's own. */
export const PREVIEW_TEXTS = {
  en: {
    name: "English",
    dir: "ltr",
    title: "Chat with us",
    greeting: "Hello! How can we help?",
    placeholder: "Write a message…",
  },
  de: {
    name: "Deutsch",
    dir: "ltr",
    title: "Schreiben Sie uns",
    greeting: "Hallo! Wie können wir Ihnen helfen?",
    placeholder: "Nachricht schreiben …",
  },
  fr: {
    name: "Français",
    dir: "ltr",
    title: "Discutez avec nous",
    greeting: "Bonjour\u202f! Comment pouvons-nous vous aider\u202f?",
    placeholder: "Écrivez un message…",
  },
  es: {
    name: "Español",
    dir: "ltr",
    title: "Chatea con nosotros",
    greeting: "¡Hola! ¿En qué podemos ayudarte?",
    placeholder: "Escribe un mensaje…",
  },
  pt: {
    name: "Português",
    dir: "ltr",
    title: "Fale conosco",
    greeting: "Olá! Como podemos ajudar?",
    placeholder: "Escreva uma mensagem…",
  },
  it: {
    name: "Italiano",
    dir: "ltr",
    title: "Chatta con noi",
    greeting: "Ciao! Come possiamo aiutarti?",
    placeholder: "Scrivi un messaggio…",
  },
  nl: {
    name: "Nederlands",
    dir: "ltr",
    title: "Chat met ons",
    greeting: "Hallo! Waarmee kunnen we u helpen?",
    placeholder: "Schrijf een bericht…",
  },
  pl: {
    name: "Polski",
    dir: "ltr",
    title: "Napisz do nas",
    greeting: "Dzień dobry! W czym możemy pomóc?",
    placeholder: "Napisz wiadomość…",
  },
  ru: {
    name: "Русский",
    dir: "ltr",
    title: "Напишите нам",
    greeting: "Здравствуйте! Чем мы можем помочь?",
    placeholder: "Напишите сообщение…",
  },
  uk: {
    name: "Українська",
    dir: "ltr",
    title: "Напишіть нам",
    greeting: "Вітаємо! Чим ми можемо допомогти?",
    placeholder: "Напишіть повідомлення…",
  },
  tr: {
    name: "Türkçe",
    dir: "ltr",
    title: "Bize yazın",
    greeting: "Merhaba! Nasıl yardımcı olabiliriz?",
    placeholder: "Bir mesaj yazın…",
  },
  ar: {
    name: "العربية",
    dir: "rtl",
    title: "تحدث معنا",
    greeting: "مرحبًا! كيف يمكننا مساعدتك؟",
    placeholder: "اكتب رسالة…",
  },
  he: {
    name: "עברית",
    dir: "rtl",
    title: "דברו איתנו",
    greeting: "שלום! איך אפשר לעזור?",
    placeholder: "כתיבת הודעה…",
  },
  ja: {
    name: "日本語",
    dir: "ltr",
    title: "チャット",
    greeting: "こんにちは。ご用件をお聞かせください。",
    placeholder: "メッセージを入力…",
  },
  zh: {
    name: "中文",
    dir: "ltr",
    title: "在线客服",
    greeting: "您好！有什么可以帮您？",
    placeholder: "输入消息…",
  },
} as const satisfies Record<string, PreviewTexts>;

/** Returns the widget's texts for a language tag (BCP 47), regardless of its region; English as the fallback. */
export function previewTextsOf(locale: string): PreviewTexts {
  const [language = ""] = locale.toLowerCase().split("-");
  return Object.hasOwn(PREVIEW_TEXTS, language)
    ? PREVIEW_TEXTS[language as keyof typeof PREVIEW_TEXTS]
    : PREVIEW_TEXTS.en;
}
