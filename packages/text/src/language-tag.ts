/** Codes that mean a language which this package knows under another one. */
const ALIASES: Readonly<Record<string, string>> = { nb: "no", nn: "no", iw: "he", in: "id", ji: "yi" };

/**
 * The language of a tag as ISO 639-1 in lower case: `pt-BR` → `pt`, `nb` → `no`. What is no tag comes back as it is in
 * lower case; nothing throws.
 */
export function primaryLanguage(tag: string): string {
  const primary = tag.trim().toLowerCase().split(/[-_]/, 1)[0] ?? "";
  return ALIASES[primary] ?? primary;
}
