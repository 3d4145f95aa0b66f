import { cutText } from "@svc/text";

/** A heading longer than this is cut: it is shown in lists and is in the path of every passage under it. */
const MAX_HEADING_CHARS = 200;

/**
 * Reads the source of a Markdown heading: its level, 1 to 6, and its text without the marks of Markdown (bold, code,
 * links). The text may be empty.
 */
export function readHeading(source: string): { level: number; title: string } {
  const lines = source.trim().split("\n");
  const hashes = /^#{1,6}(?=\s|$)/.exec(lines[0] ?? "")?.[0] ?? "";
  if (hashes !== "")
    return { level: hashes.length, title: plainTitle(trimHashes((lines[0] ?? "").slice(hashes.length))) };
  return {
    level: lines.at(-1)?.trim().startsWith("=") === true ? 1 : 2,
    title: plainTitle(lines.slice(0, -1).join(" ")),
  };
}

/** Drops the optional closing hashes. */
function trimHashes(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(trimmed.charAt(end - 1)) ? trimmed.slice(0, end) : trimmed;
}

/** Returns a heading's text without the marks of Markdown (bold, code, links), cut to its longest length. */
export function plainTitle(markdown: string): string {
  // Cut first with room for the marks: on a bounded text no expression can take long.
  const plain = cutText(markdown.trim(), 4 * MAX_HEADING_CHARS)
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[*`]|\\(?=\p{P})/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  return cutText(plain, MAX_HEADING_CHARS);
}
