import type { NewChunk } from "@svc/store";
import type { DocumentInput } from "./add-document.ts";
import { chunkDocument } from "./chunk-document.ts";

/** A stored document without its text. */
export interface StoredDocument {
  key: string;
  title: string;
  url: string | null;
  mime: string;
}

type KeptChunk = Pick<NewChunk, "headingPath" | "text" | "startOffset" | "endOffset" | "page">;

/** Longer documents are not reassembled, because splitting them twice takes seconds. */
const MAX_CHARS = 1_000_000;

/**
 * Replaces text at one position of a document. Only passages are stored, so the document is reassembled from them and
 * split again as a check. Returns null if that gives other passages, if the document has pages, if `before` does not
 * occur exactly once, or if it is longer than a million characters.
 */
export function rewriteDocument(
  document: StoredDocument,
  chunks: readonly KeptChunk[],
  { before, after }: { before: string; after: string },
): DocumentInput | null {
  const { key, title, url, mime } = document;
  const chars = chunks.reduce((sum, { text }) => sum + text.length, 0);
  if (before.trim() === "" || chars > MAX_CHARS || chunks.some(({ page }) => page !== null)) return null;
  const text = joinChunks(chunks, mime);
  const cut = chunkDocument({ text, mime }).chunks;
  const isSame =
    cut.length === chunks.length &&
    cut.every((chunk, index) => {
      const kept = chunks[index];
      return kept !== undefined && chunk.text === kept.text && isSamePath(chunk.headingPath, kept.headingPath);
    });
  if (!isSame) return null;
  const position = text.indexOf(before);
  if (position === -1 || text.includes(before, position + 1)) return null;
  const changed = `${text.slice(0, position)}${after}${text.slice(position + before.length)}`;
  return { key, title, text: changed, mime, ...(url === null ? {} : { url }) };
}

function joinChunks(chunks: readonly KeptChunk[], mime: string): string {
  const parts: string[] = [];
  let previous: KeptChunk | null = null;
  for (const chunk of chunks) {
    const isNewSection = !isSamePath(previous?.headingPath ?? [], chunk.headingPath);
    if (isNewSection) parts.push(headingsOf(previous?.headingPath ?? [], chunk, mime));
    else if (previous !== null) parts.push(gapBetween(previous, chunk));
    parts.push(chunk.text);
    previous = chunk;
  }
  return parts.join("");
}

/** Returns the headings between two sections; a passage that is a heading itself contains its own. */
function headingsOf(open: readonly string[], { headingPath, text }: KeptChunk, mime: string): string {
  if (mime === "text/plain") return "\n\n";
  let same = 0;
  while (same < Math.min(open.length, headingPath.length - 1) && open[same] === headingPath[same]) same += 1;
  const isHeading = /^#{1,6}\s/.test(text) && !text.includes("\n");
  const lines = headingPath
    .slice(same, isHeading ? -1 : undefined)
    .map((heading, index) => `${"#".repeat(same + index + 1)} ${heading}`);
  return ["", ...lines, ""].join("\n\n");
}

/** Returns the gap between two passages of one section, whose length is known. */
function gapBetween(previous: KeptChunk, next: KeptChunk): string {
  const length = next.startOffset - previous.endOffset;
  if (length <= 0) return "";
  if (length > 1) return "\n\n";
  const isLine = /^\s*(?:[-*+|>]|\d{1,9}[.)]\s)/.test(next.text);
  return isLine ? "\n" : " ";
}

function isSamePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((heading, index) => heading === other[index]);
}
