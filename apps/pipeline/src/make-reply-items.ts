import type { MessageDraft, ReplyDraft, Source } from "@svc/contracts";
import { findTables } from "./xlsx/find-tables.ts";
import { tableFileName } from "./xlsx/table-file-name.ts";
import { writeWorkbook } from "./xlsx/write-workbook.ts";

const XLSX_MIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** Limits of attachments: UTF-16 units of the text, tables, and rows and columns of each. */
const MAX_TEXT_CHARS = 100_000;
const TABLE_LIMITS = { maxTables: 10, maxRows: 1_000, maxColumns: 100 };

/** An answer of the answer stage or an operator. */
export interface Answer {
  text: string;
  markdown: boolean;
  sources?: Source[];
}

export interface ReplyItemOptions {
  /** Whether tables are also sent as XLSX files. Called only if the answer may have a table. */
  sendsTables: () => Promise<boolean>;
  /**
   * Called with the reason why a table has no attachment, and the error if there is one; never with the text of the
   * answer.
   */
  warn: (text: string, error?: unknown) => void;
}

/**
 * Returns the items of the reply with this answer: first the message, unchanged, then each table of a Markdown answer
 * as an XLSX file, if they are sent (service document, section 2.2; docs/api.md, "Reply items"). At most the first 10
 * tables are written, each truncated to 1,000 rows and 100 columns, with a note in the file; a text of more than
 * 100,000 characters is not searched. The message is always complete. Rejects only if `sendsTables` does: a table that
 * cannot be written has no attachment, and `warn` is called. The same answer always gives the same bytes, so that a
 * repeated job changes nothing.
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
