import type { AttachmentDraft } from "@svc/contracts";
import { findTables } from "./find-tables.ts";
import { writeWorkbook } from "./write-workbook.ts";

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

const XLSX_MIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** Limits of attachments: UTF-16 units of the text, tables, and rows and columns of each. */
const MAX_TEXT_CHARS = 100_000;
const TABLE_LIMITS = { maxTables: 10, maxRows: 1_000, maxColumns: 100 };

/**
 * Returns each table of a Markdown text as an XLSX file (service document, section 2.2; docs/api.md, "Reply items"): at
 * most the first 10 tables, each truncated to 1,000 rows and 100 columns, with a note in the file; none of a text of more
 * than 100,000 characters. Never rejects: a table that cannot be written has no file, and `warn` is called with the reason
 * and the error if there is one, never with the text. The same text always gives the same bytes, so that a repeated job
 * changes nothing.
 */
export async function tableAttachments(
  text: string,
  warn: (reason: string, error?: unknown) => void,
): Promise<AttachmentDraft[]> {
  if (text.length > MAX_TEXT_CHARS) {
    warn(`tables not exported to XLSX: the answer has ${text.length} characters, more than ${MAX_TEXT_CHARS}`);
    return [];
  }
  const attachments: AttachmentDraft[] = [];
  const taken = new Set<string>();
  try {
    const { tables, found } = findTables(text, TABLE_LIMITS);
    if (found > tables.length) {
      warn(`only the first ${tables.length} of ${found} tables exported to XLSX`);
    }
    for (const [index, table] of tables.entries()) {
      try {
        const content = await writeWorkbook(table);
        const filename = tableFileName(table.heading, taken);
        taken.add(filename);
        attachments.push({ type: "attachment", filename, mime: XLSX_MIME, content });
      } catch (error) {
        warn(`failed to export table ${index + 1} to XLSX`, error);
      }
    }
  } catch (error) {
    warn("failed to find tables in the answer", error);
  }
  return attachments;
}
