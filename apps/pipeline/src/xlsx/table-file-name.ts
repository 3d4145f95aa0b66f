const MAX_SLUG_CHARS = 60;
const DEFAULT_SLUG = "table";
/** Names of devices, which Windows rejects as file names with any extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;
/** Latin letters that Unicode does not decompose into a base letter and a mark. */
const LATIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" }),
);

/**
 * Returns a file name for a table from the heading above it: lower-case ASCII letters, digits and hyphens, at most
 * 60, and `.xlsx`. It therefore contains no path characters, is valid on every system and needs no quoting in a
 * header. Without Latin letters or digits in the heading it is `table.xlsx`. A name in `taken` gets the next free
 * number (`prices-2.xlsx`).
 */
export function tableFileName(heading: string | null, taken: ReadonlySet<string>): string {
  const slug = (heading ?? "")
    .slice(0, 1_000)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/\P{ASCII}/gu, (letter) => LATIN_LETTERS.get(letter) ?? " ")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_CHARS)
    .replaceAll(/^-|-$/g, "");
  const base = slug === "" ? DEFAULT_SLUG : DEVICE_NAME.test(slug) ? `${DEFAULT_SLUG}-${slug}` : slug;
  let name = `${base}.xlsx`;
  for (let number = 2; taken.has(name); number++) name = `${base}-${number}.xlsx`;
  return name;
}
