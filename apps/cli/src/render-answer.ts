import type { ReplyItem, Source } from "@svc/contracts";
import { safeLine, safeText } from "./safe-text.ts";
import type { Paint } from "./terminal.ts";

const KIB = 1024;
/** A quote is there to find the place, which its beginning does; the document has the rest. */
const QUOTE_CHARS = 240;

function sizeOfBase64(base64: string): string {
  const sizeBytes = Math.floor((base64.replaceAll("=", "").length * 3) / 4);
  return sizeBytes < KIB ? `${sizeBytes} bytes` : `${Math.round(sizeBytes / KIB)} KB`;
}

const AUTHORS = { agent: "", operator: "From an operator: ", system: "" } as const;

function renderItem(item: ReplyItem, paint: Paint): string {
  if (item.type === "message") return `${AUTHORS[item.author]}${safeText(item.text)}`;
  return paint.dim(`[file ${safeLine(item.filename)}, ${safeLine(item.mime)}, ${sizeOfBase64(item.base64)}]`);
}

function renderSource(source: Source, index: number, paint: Paint): string {
  const address = source.url === undefined ? "" : ` ${safeLine(source.url)}`;
  const quote = `“${safeLine(source.excerpt ?? source.quote, QUOTE_CHARS)}”`;
  return `  ${index + 1}. ${paint.bold(safeLine(source.title))}${address}\n     ${paint.dim(quote)}`;
}

/** Where an answer is from, each place with the beginning of its quote. Texts of strangers are made harmless. */
export function renderSources(sources: readonly Source[], paint: Paint): string {
  return `Sources\n${sources.map((source, index) => renderSource(source, index, paint)).join("\n")}`;
}

/** Replies as a person reads them: the texts, then where they are from. Texts of strangers are made harmless. */
export function renderReplies(replies: readonly ReplyItem[], paint: Paint): string {
  const texts = replies.map((item) => renderItem(item, paint)).join("\n\n");
  const sources = replies.flatMap((item) => (item.type === "message" ? (item.sources ?? []) : []));
  return sources.length === 0 ? texts : `${texts}\n\n${renderSources(sources, paint)}`;
}
