import type { MessageDraft, ReplyDraft, Source } from "@svc/contracts";
import { findTables } from "./xlsx/find-tables.ts";
import { tableFileName } from "./xlsx/table-file-name.ts";
import { writeWorkbook } from "./xlsx/write-workbook.ts";

const XLSX_MIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** What of an answer becomes attachments: UTF-16 units of its text, tables, and rows and columns of each. */
const MAX_TEXT_CHARS = 100_000;
const TABLE_LIMITS = { maxTables: 10, maxRows: 1_000, maxColumns: 100 };

/** An answer as the answer stage, or an operator, wrote it. */
export interface Answer {
  text: string;
  markdown: boolean;
  sources?: Source[];
}

export interface ReplyItemOptions {
  /** Whether tables are to be sent as files too; asked only if the answer may have one. */
  sendsTables: () => Promise<boolean>;
  /** Told why a table has no attachment, with the error where there is one; never given the text of the answer. */
  warn: (text: string, error?: unknown) => void;
}

/**
 * Turns an answer into the items of its reply: first the message, word for word, then each table of a Markdown answer
 * as an XLSX file too, where the project wants it (service document, section 2.2; docs/api.md, "Reply items"). The
 * first 10 tables are written, each to 1,000 rows and 100 columns, with a note in the file when it was cut; a text of
 * more than 100,000 characters is not searched. The message always has everything. Rejects only if `sendsTables` does:
 * a table that cannot be written costs its attachment, not the message, and `warn` is called. The same answer gives the same items, byte
 * for byte, so that a repeated job changes nothing.
 */
export async function makeReplyItems(answer: Answer, options: ReplyItemOptions): Promise<ReplyDraft[]> {
  const message: MessageDraft = { type: "message", text: answer.text, markdown: answer.markdown };
  if (answer.sources !== undefined) message.sources = answer.sources;
  if (!answer.markdown || !answer.text.includes("|") || !(await options.sendsTables())) return [message];
  return [message, ...(await tableAttachments(answer.text, options.warn))];
}

async function tableAttachments(text: string, warn: ReplyItemOptions["warn"]): Promise<ReplyDraft[]> {
  if (text.length > MAX_TEXT_CHARS) {
    warn(`tables not exported to XLSX: the answer has ${text.length} characters, more than ${MAX_TEXT_CHARS}`);
    return [];
  }
  const attachments: ReplyDraft[] = [];
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
