import { isUtf8 } from "node:buffer";

/** Maximum share of control and replacement characters in a text. */
const MAX_BINARY_SHARE = 0.02;

/** Returns whether a text is binary data: many of its characters are control or replacement characters. */
export function looksBinary(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isControl = unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0c && unit !== 0x0d && unit !== 0x1b;
    if (isControl || unit === 0xff_fd || (unit >= 0x7f && unit < 0xa0)) count += 1;
  }
  return count > text.length * MAX_BINARY_SHARE;
}

/** Format of a file by its first bytes. */
export type Signature = { format: "pdf" | "zip" | "ole" | "text" } | { format: "other"; detail: string };

const PDF_SEARCH_BYTES = 1024;

interface Magic {
  at: number;
  bytes: readonly number[] | string;
  /** The format and what to do, as the end of a sentence that begins with the file's name. */
  detail: string;
}

const image = (kind: string) => `is ${kind} image, and images cannot be read; run text recognition and add its text`;
const archive = (kind: string) => `is ${kind} archive; unpack it and add the files in it`;
const media = (kind: string) => `is ${kind}, which cannot be read; add a transcript as text`;
const program = "is a program and contains no text; add text, Markdown, HTML, PDF, DOCX, XLSX or CSV";

const MAGICS: readonly Magic[] = [
  { at: 0, bytes: "\x89PNG\r\n", detail: image("a PNG") },
  { at: 0, bytes: [0xff, 0xd8, 0xff], detail: image("a JPEG") },
  { at: 0, bytes: "GIF8", detail: image("a GIF") },
  { at: 8, bytes: "WEBP", detail: image("a WebP") },
  { at: 0, bytes: "BM\0\0", detail: image("a bitmap") },
  { at: 0, bytes: "II*\0", detail: image("a TIFF") },
  { at: 0, bytes: "MM\0*", detail: image("a TIFF") },
  { at: 0, bytes: [0, 0, 1, 0], detail: image("an icon") },
  { at: 4, bytes: "ftypheic", detail: image("a HEIC") },
  { at: 4, bytes: "ftypavif", detail: image("an AVIF") },
  { at: 0, bytes: [0x1f, 0x8b], detail: archive("a gzip") },
  { at: 0, bytes: "BZh", detail: archive("a bzip2") },
  { at: 0, bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], detail: archive("an xz") },
  { at: 0, bytes: [0x28, 0xb5, 0x2f, 0xfd], detail: archive("a Zstandard") },
  { at: 0, bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], detail: archive("a 7z") },
  { at: 0, bytes: "Rar!\x1a\x07", detail: archive("a RAR") },
  { at: 257, bytes: "ustar", detail: archive("a tar") },
  { at: 4, bytes: "ftyp", detail: media("an MP4 video or audio file") },
  { at: 0, bytes: "ID3", detail: media("an MP3 sound file") },
  { at: 0, bytes: "OggS", detail: media("an Ogg sound file") },
  { at: 0, bytes: "fLaC", detail: media("a FLAC sound file") },
  { at: 8, bytes: "WAVE", detail: media("a WAV sound file") },
  { at: 8, bytes: "AVI ", detail: media("an AVI film") },
  { at: 0, bytes: [0x1a, 0x45, 0xdf, 0xa3], detail: media("a Matroska film") },
  { at: 0, bytes: "\x7fELF", detail: program },
  { at: 0, bytes: [0xcf, 0xfa, 0xed, 0xfe], detail: program },
  { at: 0, bytes: "\0asm", detail: program },
  { at: 0, bytes: "SQLite format 3\0", detail: "is an SQLite database; export its tables as CSV" },
  { at: 0, bytes: "{\\rtf", detail: "is an RTF document, which is not supported; save it as .docx" },
  { at: 0, bytes: "%!PS", detail: "is a PostScript file, which is not supported; convert it to PDF" },
  { at: 0, bytes: "wOFF", detail: "is a font and contains no text" },
  { at: 0, bytes: "wOF2", detail: "is a font and contains no text" },
  { at: 0, bytes: "bplist00", detail: "is a binary property list, which is not supported; convert it to text" },
];

/** Returns the format of a file by its bytes only. Anything unknown is `text` until it is decoded. */
export function detectSignature(bytes: Uint8Array): Signature {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PDF_SEARCH_BYTES));
  if (
    head.toString("latin1", 0, 2) === "PK" &&
    [0x0304, 0x0506, 0x0708].includes(head.length < 4 ? 0 : head.readUInt16BE(2))
  )
    return { format: "zip" };
  if (head.subarray(0, 8).equals(Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])))
    return { format: "ole" };
  // Readers accept a PDF header anywhere in the first kilobyte; text that merely mentions PDF is not one.
  const text = head.toString("latin1");
  const isPdf = /^(?:\u00ef\u00bb\u00bf)?\s*%PDF-\d\.\d/.test(text) || (/%PDF-\d\.\d/.test(text) && !isUtf8(bytes));
  if (isPdf) return { format: "pdf" };
  const magic = MAGICS.find(({ at, bytes: wanted }) =>
    head
      .subarray(at, at + wanted.length)
      .equals(typeof wanted === "string" ? Buffer.from(wanted, "latin1") : Buffer.from(wanted)),
  );
  if (magic !== undefined) return { format: "other", detail: magic.detail };
  return { format: "text" };
}

/** Describes an OLE container, which is an old Office file or an encrypted new one, as the end of a sentence. */
export function describeOle(bytes: Uint8Array): { isEncrypted: boolean; detail: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (stream: string) => buffer.includes(Buffer.from(stream, "utf16le"));
  if (has("EncryptedPackage"))
    return { isEncrypted: true, detail: "is password-protected; remove the password and add it again" };
  const old = (kind: string, ending: string) => ({
    isEncrypted: false,
    detail: `is an old ${kind} file, which cannot be read; save it as ${ending}`,
  });
  if (has("WordDocument")) return old("Word", ".docx");
  if (has("PowerPoint Document")) return old("PowerPoint", ".pdf");
  if (has("Workbook") || has("Book")) return old("Excel", ".xlsx");
  if (has("__substg1.0_")) return { isEncrypted: false, detail: "is an Outlook message; save it as text or HTML" };
  return {
    isEncrypted: false,
    detail: "is an old Office file, which is not supported; save it as .docx, .xlsx or .pdf",
  };
}

/** Text formats with their own reader. */
export type TextFormat = "html" | "markdown" | "csv" | "plain" | "json" | "xml";

const ENDINGS: Readonly<Record<string, TextFormat>> = {
  html: "html",
  htm: "html",
  xhtml: "html",
  md: "markdown",
  markdown: "markdown",
  mdx: "markdown",
  mkd: "markdown",
  csv: "csv",
  tsv: "csv",
  tab: "csv",
  json: "json",
  xml: "xml",
};

const MIMES: Readonly<Record<string, TextFormat>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/csv": "csv",
  "text/tab-separated-values": "csv",
  "application/json": "json",
};

/** Number of characters that are searched for signs of HTML. */
const HEAD_CHARS = 2_048;

/**
 * Returns the format of a decoded text: obvious content (HTML, XML) before the file extension, and that before the
 * declared type, because servers send Markdown and CSV as text/plain.
 */
export function detectTextFormat(text: string, hints: { name: string; mime?: string }): TextFormat {
  const head = text.slice(0, HEAD_CHARS).replace(/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*/, "");
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(head)) return "html";
  if (/^\s*<(?:\?xml|svg)\b/.test(text)) return "xml";
  const ending = /\.(\w+)$/.exec(hints.name.replace(/[?#].*$/, ""))?.[1]?.toLowerCase() ?? "";
  const declared = MIMES[hints.mime?.split(";", 1)[0]?.trim().toLowerCase() ?? ""];
  const hinted = ENDINGS[ending] ?? declared ?? "plain";
  if (hinted !== "html") return hinted;
  return /<[a-z!/]/i.test(text) ? "html" : "plain";
}
