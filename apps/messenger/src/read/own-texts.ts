import texts from "./own-texts.json" with { type: "json" };

/** Texts of the bot itself. */
interface OwnTexts {
  /** For a user who starts the bot, if the project has no greeting of its own. */
  greeting: string;
  help: string;
  /** Precedes the new text of an edited message. */
  correction: string;
}

/** By the primary tag of a language (BCP 47), as Telegram reports it of its users. */
const TEXTS: Readonly<Record<string, OwnTexts>> = texts;

/** Returns the bot's own texts in the language of a user's app; in English if there are none in that language. */
export function ownTexts(languageCode: string | undefined): OwnTexts {
  const primary = languageCode?.split("-")[0]?.toLowerCase() ?? "";
  return Object.hasOwn(TEXTS, primary) ? (TEXTS[primary] ?? texts.en) : texts.en;
}
