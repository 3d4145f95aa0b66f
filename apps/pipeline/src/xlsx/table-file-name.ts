const MAX_SLUG_CHARS = 60;
const DEFAULT_SLUG = "table";
/** Names of devices, which Windows refuses for files whatever their ending. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;
/** Latin letters that Unicode does not decompose into a base letter and a mark. */
const LATIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" }),
);

/**
 * A file name for a table from the heading above it: lower-case ASCII letters, digits and hyphens, at most 60, and
 * `.xlsx`. So it has no path characters, means the same on every system and needs no quoting in a header. A heading
 * without Latin letters or digits, or none, gives `table.xlsx`. A name that is in `taken` gets the next free number
 * (`prices-2.xlsx`).
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
