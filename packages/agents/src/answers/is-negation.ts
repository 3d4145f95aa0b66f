/** Words that negate, in the languages in which most support pages are written. */
const NEGATION =
  /\b(?:not|no|without|never|nobody|none|cannot|\w+n['’]t|nicht|kein\w*|ohne|nie|niemals|sin|nunca|tampoco|jamás|sans|pas|aucune?|jamais|geen|niet|zonder|non|senza|nessun\w*|sem|não)\b/iu;

/** Returns whether a text negates something. */
export function isNegation(text: string): boolean {
  return NEGATION.test(text);
}
