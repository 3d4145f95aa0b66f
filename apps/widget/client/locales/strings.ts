/** A text that depends on a number, by plural category (`Intl.PluralRules`). `{count}` is the number. */
export type PluralText = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/**
 * All texts of the widget, by name. Placeholders such as `{name}` are filled in when a text is shown. A site can override
 * any of them by name in its settings (`strings`).
 */
export interface Strings {
  /** Default heading of the panel. */
  title: string;
  /** Default greeting, shown before a conversation starts. */
  greeting: string;

  /** Accessible name of the launcher while the panel is closed. */
  openChat: string;
  /** Accessible name of the launcher and of the close button while the panel is open. */
  closeChat: string;
  /** Appended to the launcher's name, and announced when replies arrive while the panel is closed. */
  unread: PluralText;

  /** Accessible name of the message list. */
  conversation: string;
  /** Authors of messages: the visitor, an agent, an operator, an auto-reply. */
  you: string;
  agent: string;
  operator: string;
  system: string;
  /** A reply is pending, or a person is typing. `{name}` */
  typing: string;
  typingName: string;

  /** The list of the visitor's conversations, the button for a new one, and the way back. */
  chats: string;
  newChat: string;
  back: string;
  /** Another conversation is not shown while messages wait to be sent. */
  chatsUnsent: string;
  /** Button that scrolls to the newest messages. */
  newMessages: string;

  /** Delivery states of a visitor's message. */
  sending: string;
  waiting: string;
  sent: string;
  failed: string;
  /** Buttons of a failed message. */
  retry: string;
  discard: string;

  /** Connection states. */
  connecting: string;
  offline: string;
  backOnline: string;

  /** Accessible name and placeholder of the text field. */
  messageLabel: string;
  messagePlaceholder: string;
  send: string;
  attach: string;
  /** Button that removes a file before the message is sent. `{name}` */
  removeFile: string;
  /** `{name}`, `{percent}` (a number with its percent sign). */
  uploading: string;
  /** Shown while files are dragged over the panel. */
  dropFiles: string;
  /** Shown when few characters are left. */
  charactersLeft: PluralText;

  /** `{name}` */
  download: string;
  /** Heading of the sources of an answer. */
  sources: string;
  /** Added to links for screen readers. */
  opensNewTab: string;

  /** Button that asks for a person, the message it sends, and the notice shown until an operator replies. */
  person: string;
  personMessage: string;
  personWaiting: string;

  /** Shown when the conversation is closed; the next message reopens it. */
  done: string;
  rateQuestion: string;
  /** Scores 1 to 5. */
  rateVeryBad: string;
  rateBad: string;
  rateOkay: string;
  rateGood: string;
  rateVeryGood: string;
  /** Label of the comment field. */
  rateComment: string;
  rateSend: string;
  rateThanks: string;

  /** The form before the first message. */
  prechatIntro: string;
  prechatName: string;
  prechatEmail: string;
  prechatStart: string;
  prechatNameMissing: string;
  prechatEmailInvalid: string;

  soundOn: string;
  soundOff: string;

  /** Errors of messages and files. */
  faultTooLong: string;
  faultTooFast: string;
  faultRefused: string;
  /** `{size}` (the limit, with its unit). */
  faultFileTooLarge: string;
  faultFileEmpty: string;
  faultFileType: string;
  /** `{count}` is the limit. */
  faultFileCount: PluralText;
  faultFileGone: string;
  faultUpload: string;
  /** The storage of the project is full. */
  faultStorage: string;
  faultDownload: string;
  faultOther: string;

  /** Permanent connection errors: invalid key, website not allowed, visitor not signed in. */
  refusedKey: string;
  refusedOrigin: string;
  refusedIdentity: string;
}

export type StringName = keyof Strings;

/** Contents of a language file. */
export interface Locale {
  /** BCP 47. */
  language: string;
  dir: "ltr" | "rtl";
  strings: Strings;
}
