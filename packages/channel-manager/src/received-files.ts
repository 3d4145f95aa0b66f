import { WIDGET_LIMITS } from "@svc/contracts";

/** Folders, with the separators of all systems. */
const FOLDERS = /^.*[/\\]/s;
/** Control characters, and invisible ones or those that change the direction or order of surrounding text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** More combining marks on one letter than any script uses. */
const STACKED_MARKS = /(\p{M}{3})\p{M}+/gu;
/** Characters that some systems reject in a name, or interpret. */
const FORBIDDEN = /[<>:"|?*]/g;
const FALLBACK = "file";

/**
 * Returns the name of a file for display and storage: one line without folders, control characters, changes of
 * direction and stacked marks; at most the last 200 characters, which include the extension.
 */
export function cleanFileName(name: string): string {
  const clean = name
    .toWellFormed()
    .replace(FOLDERS, "")
    .normalize("NFC")
    .replace(INVISIBLE, "")
    .replace(STACKED_MARKS, "$1")
    .replace(FORBIDDEN, "_")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  const chars = Array.from(clean);
  const max = WIDGET_LIMITS.fileNameMaxChars;
  if (chars.length === 0) return FALLBACK;
  if (chars.length <= max) return clean;
  const end = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? "";
  return `${chars.slice(0, max - end.length).join("")}${end}`;
}

/** Magic numbers of media types. Archives and office documents have the same one and remain archives. */
const SIGNATURES: readonly { mime: string; offset: number; bytes: readonly number[] }[] = [
  { mime: "image/png", offset: 0, bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { mime: "image/jpeg", offset: 0, bytes: [0xff, 0xd8, 0xff] },
  { mime: "image/gif", offset: 0, bytes: [0x47, 0x49, 0x46, 0x38] },
  { mime: "image/webp", offset: 8, bytes: [0x57, 0x45, 0x42, 0x50] },
  { mime: "application/pdf", offset: 0, bytes: [0x25, 0x50, 0x44, 0x46, 0x2d] },
  { mime: "application/zip", offset: 0, bytes: [0x50, 0x4b, 0x03, 0x04] },
  { mime: "application/gzip", offset: 0, bytes: [0x1f, 0x8b] },
  { mime: "audio/mpeg", offset: 0, bytes: [0x49, 0x44, 0x33] },
  { mime: "audio/ogg", offset: 0, bytes: [0x4f, 0x67, 0x67, 0x53] },
  { mime: "audio/wav", offset: 8, bytes: [0x57, 0x41, 0x56, 0x45] },
  { mime: "video/mp4", offset: 4, bytes: [0x66, 0x74, 0x79, 0x70] },
  { mime: "video/webm", offset: 0, bytes: [0x1a, 0x45, 0xdf, 0xa3] },
];

const UTF8 = new TextDecoder("utf-8", { fatal: true });
// oxlint-disable-next-line no-control-regex -- These are the characters that no text has.
const BINARY = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

function isText(content: Buffer): boolean {
  try {
    return !BINARY.test(UTF8.decode(content));
  } catch {
    // The decoder throws for text that is not UTF-8.
    return false;
  }
}

/**
 * Returns the media type of a file by its content: a type that browsers do not render or execute, whatever the sender
 * declares. Text of any kind, including HTML and SVG, is `text/plain`; unknown content is `application/octet-stream`.
 */
export function sniffMime(content: Buffer): string {
  const known = SIGNATURES.find(({ offset, bytes }) => bytes.every((byte, index) => content[offset + index] === byte));
  if (known !== undefined) return known.mime;
  return content.length > 0 && isText(content) ? "text/plain" : "application/octet-stream";
}
