/** A text that depends on a number, by the plural category that `Intl.PluralRules` names. `{count}` is the number. */
export type PluralText = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/**
 * Everything that the widget says by itself, by name. `{name}` and the like stand for what is known only then. A site
 * replaces any of them by name in its settings (`strings`).
 */
export interface Strings {
  /** Heading of the panel, where the settings have none. */
  title: string;
  /** First words of the panel before a conversation, where the settings have none. */
  greeting: string;

  /** Name of the launcher while the panel is closed. */
  openChat: string;
  /** Name of the launcher and of the panel's own button while the panel is open. */
  closeChat: string;
  /** Behind the launcher's name, and said once when replies come while the panel is closed. */
  unread: PluralText;

  /** Name of the list of messages, for screen readers. */
  conversation: string;
  /** Who wrote a message: the visitor, the automatic answer, a person of the site, the service itself. */
  you: string;
  agent: string;
  operator: string;
  system: string;
  /** A reply is pending. */
  typing: string;
  /** Button that scrolls to what came in meanwhile. */
  newMessages: string;

  /** What became of a message of the visitor. */
  sending: string;
  waiting: string;
  sent: string;
  failed: string;
  /** Buttons of a failed message. */
  retry: string;
  discard: string;

  /** How the line is. */
  connecting: string;
  offline: string;
  backOnline: string;

  /** Name of the text field, and what stands in it while it is empty. */
  messageLabel: string;
  messagePlaceholder: string;
  send: string;
  attach: string;
  /** Takes a file out of a message before it is sent. `{name}` */
  removeFile: string;
  /** `{name}`, `{percent}` (a number with its percent sign). */
  uploading: string;
  /** Shown over the panel while files are dragged over it. */
  dropFiles: string;
  /** Shown when few characters are left. */
  charactersLeft: PluralText;

  /** `{name}` */
  download: string;
  /** Heading of where an answer has its statements from. */
  sources: string;
  /** Said behind a link, for screen readers. */
  opensNewTab: string;

  /** Button that asks for a person, what is sent then, and what is shown until one answers. */
  person: string;
  personMessage: string;
  personWaiting: string;

  /** The conversation is over; the next message opens it again. */
  done: string;
  rateQuestion: string;
  /** Scores 1 to 5. */
  rateVeryBad: string;
  rateBad: string;
  rateOkay: string;
  rateGood: string;
  rateVeryGood: string;
  /** Name of the field for a comment on the score. */
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

  /** Why a message or a file was not sent. */
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
  /** Nothing more is stored. */
  faultStorage: string;
  faultDownload: string;
  faultOther: string;

  /** Why there is no line, for good: the key, the site, or a visitor who is not signed in. */
  refusedKey: string;
  refusedOrigin: string;
  refusedIdentity: string;
}

export type StringName = keyof Strings;

/** A language, as its file exports it. */
export interface Locale {
  /** BCP 47. */
  language: string;
  dir: "ltr" | "rtl";
  strings: Strings;
}
