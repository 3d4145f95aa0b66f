import { detectLanguage } from "@svc/text";

/** From this confidence on the text itself says which language it is in. */
const CLEAR_LANGUAGE = 0.5;

/** The language that a text is clearly in (ISO 639-1), or null. */
export function languageOf(text: string): string | null {
  const { language, confidence } = detectLanguage(text);
  return confidence < CLEAR_LANGUAGE ? null : language;
}
