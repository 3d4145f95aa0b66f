/** The widget's default texts in one of its languages that the preview shows. */
export interface PreviewTexts {
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
