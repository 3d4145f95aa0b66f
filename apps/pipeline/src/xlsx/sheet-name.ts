/** Maximum length of a sheet's name, in UTF-16 units. */
const MAX_NAME_CHARS = 31;
/**
 * Characters that Excel rejects in the name of a sheet, and those that would reorder or hide text. Joiners are
 * allowed: Persian words and emoji need them.
 */
const FORBIDDEN = /[*?:\\/[\]]|[\p{Cc}\p{Cs}\p{Cn}\p{Co}\p{Zl}\p{Zp}]|[^\P{Cf}\u200c\u200d]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
const DEFAULT_NAME = "Table";

/**
 * Returns the name of a sheet from the heading above its table, by Excel's rules: at most 31 UTF-16 units without
 * splitting a character, none of `* ? : \ / [ ]`, no apostrophe at either end, not "History", never empty. Invisible
 * and direction-changing characters are dropped. Without a usable heading it is "Table".
 */
export function sheetName(heading: string | null): string {
  const words = (heading ?? "").replaceAll(FORBIDDEN, " ").replaceAll(/\s+/g, " ");
  let name = "";
  for (const character of trimName(words)) {
    if (name.length + character.length > MAX_NAME_CHARS) break;
    name += character;
  }
  const trimmed = trimName(name);
  if (!VISIBLE.test(trimmed)) return DEFAULT_NAME;
  return trimmed.toLowerCase() === "history" ? `${trimmed} ${DEFAULT_NAME.toLowerCase()}` : trimmed;
}

function trimName(name: string): string {
  return name.replace(/^[\s']+/, "").replace(/[\s']+$/, "");
}
