import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import iconv from "iconv-lite";
import { looksBinary, describeOle, detectSignature, detectTextFormat } from "./detect-format.ts";
import type { TextFormat } from "./detect-format.ts";
import { fileError, fileTooLarge, fileUnsupported, formatMb } from "../ingest-file.ts";
import type { FileText, FileToRead } from "../ingest-file.ts";
import type { ReadLimits } from "./read-limits.ts";
import { splitTables } from "./format-table.ts";

/** Number of bytes from which an encoding is detected. */
const SAMPLE_BYTES = 64 * 1024;

/** Minimum confidence (of 100) of a detected encoding; below it, Windows-1252 is most likely. */
const MIN_CONFIDENCE = 40;

/**
 * Encodings that can be detected from the bytes. Single-byte encodings are too similar, except Cyrillic, Greek, Hebrew,
 * Arabic and Thai, whose letters fill the upper half.
 */
const DETECTABLE = new Set(
  "Shift_JIS EUC-JP ISO-2022-JP ISO-2022-KR ISO-2022-CN EUC-KR Big5 GB18030 KOI8-R windows-1251 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 windows-1253 windows-1255 windows-1256".split(
    " ",
  ),
);

/** Readers by text format. Libraries are loaded on first use. */
const TEXT_READERS: Record<TextFormat, (text: string, file: FileToRead, limits: ReadLimits) => Promise<FileText>> = {
  html: async (text, file, limits) => (await import("./read-html.ts")).readHtml(text, file, limits),
  markdown: async (text, file) => (await import("./read-markdown.ts")).readMarkdown(text, file),
  plain: async (text) => ({ text: text.trim(), mime: "text/plain", title: null, sourceMime: "text/plain" }),
  csv: async (text, file, limits) => (await import("./read-csv.ts")).readCsv(text, file, limits),
  json: async (_, file) => {
    throw fileUnsupported(file.name, "is JSON, which is not supported; convert it to CSV or Markdown");
  },
  xml: async (_, file) => {
    throw fileUnsupported(file.name, "is XML, which is not supported; convert it to HTML, Markdown or text");
  },
};

/**
 * Converts the bytes of a file to text, in this thread: `createFileReader` calls it in a worker. The content decides
 * the format. Throws a `ServiceError` that names the file and says what to do.
 */
export async function readFileBytes(file: FileToRead, limits: ReadLimits): Promise<FileText> {
  const read = await readAnyFormat(file, limits);
  // Removes characters that no text contains and no database stores: NUL, lone surrogates, and the noncharacters used
  // as marks.
  const clean = read.text.includes("\0") ? read.text.replaceAll("\0", "") : read.text;
  // Page starts are offsets in the unchanged text.
  const text = read.mime === "text/markdown" && read.pageStarts === undefined ? splitTables(clean) : clean;
  if (text.trim() === "") throw fileError(file.name, "empty", "contains no text; add a file with text");
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > limits.textBytes) {
    throw fileTooLarge(
      file.name,
      `contains ${formatMb(sizeBytes)} of text; the maximum is ${formatMb(limits.textBytes)}; split it into several files`,
    );
  }
  const title = read.title?.replace(/[\s\p{Cc}]+/gu, " ").trim() ?? "";
  return { ...read, text: text.toWellFormed(), title: title === "" ? null : title.slice(0, 500).toWellFormed() };
}

async function readAnyFormat(file: FileToRead, limits: ReadLimits): Promise<FileText> {
  const { name, bytes } = file;
  if (bytes.byteLength === 0) throw fileError(name, "empty", "is empty; add a file with text");
  if (file.format !== undefined) {
    return readText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"), file, limits);
  }
  const signature = detectSignature(bytes);
  if (signature.format === "pdf") return (await import("./read-pdf.ts")).readPdf(file, limits);
  if (signature.format === "zip") return (await import("./read-docx.ts")).readOffice(file, limits);
  if (signature.format === "other") throw fileUnsupported(name, signature.detail);
  if (signature.format === "ole") {
    const { isEncrypted, detail } = describeOle(bytes);
    throw isEncrypted ? fileError(name, "encrypted", detail) : fileUnsupported(name, detail);
  }
  return readText(decodeText(bytes, charsetOf(file)), file, limits);
}

function readText(text: string, file: FileToRead, limits: ReadLimits): Promise<FileText> {
  if (looksBinary(text)) {
    throw fileError(file.name, "binary", "is binary data, not text; add text, Markdown, HTML, PDF, DOCX, XLSX or CSV");
  }
  return TEXT_READERS[file.format ?? detectTextFormat(text, file)](text, file, limits);
}

const HEAD_BYTES = 4_096;

/** Returns the charset that the server or the page declares. */
function charsetOf(file: FileToRead): string | undefined {
  const head = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, Math.min(file.bytes.byteLength, HEAD_BYTES));
  const declared =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(file.mime ?? "") ??
    /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head.toString("latin1")) ??
    /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]+)/i.exec(head.toString("latin1"));
  return declared?.[1];
}

/**
 * Decodes text in the encoding of its byte order mark, its bytes or else `declared` (a charset as in a Content-Type):
 * UTF-8, UTF-16 with and without a mark, any encoding iconv-lite knows by name; Windows-1252 as the fallback. Line
 * breaks become `\n`, a byte order mark is dropped.
 */
function decodeText(bytes: Uint8Array, declared?: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return iconv.decode(buffer, encodingOf(buffer, declared)).replace(/\r\n?/g, "\n");
}

function encodingOf(buffer: Buffer, declared: string | undefined): string {
  const marked = readMark(buffer) ?? guessUtf16(buffer);
  if (marked !== null) return marked;
  if (isUtf8(buffer)) return "utf-8";
  if (declared !== undefined && !/^utf/i.test(declared) && iconv.encodingExists(declared)) {
    return declared;
  }
  const [best] = analyse(buffer.subarray(0, SAMPLE_BYTES));
  return best !== undefined && best.confidence >= MIN_CONFIDENCE && DETECTABLE.has(best.name) ? best.name : "win1252";
}

/** Returns the Unicode encoding of a byte order mark, or null. */
function readMark(buffer: Buffer): string | null {
  const [first, second, third, fourth] = buffer;
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? "utf-32le" : "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return "utf-32be";
  return null;
}

/**
 * Detects UTF-16 without a mark: nearly every second byte of Western text is zero, always on the same side, and text in
 * other scripts still has spaces and line breaks. Text in a single-byte encoding has no zeros.
 */
function guessUtf16(buffer: Buffer): "utf-16le" | "utf-16be" | null {
  const length = Math.min(buffer.length, SAMPLE_BYTES) & ~1;
  let even = 0;
  let odd = 0;
  let pairs = 0;
  for (let index = 0; index < length; index += 2) {
    const high = buffer[index];
    const low = buffer[index + 1];
    if (high === 0 && low === 0) pairs += 1;
    else if (high === 0) even += 1;
    else if (low === 0) odd += 1;
  }
  const units = length / 2;
  // Data with runs of zeros is binary, whichever side the other zeros are on.
  if (units === 0 || pairs > units * 0.01) return null;
  if (odd >= 1 && odd > units * 0.03 && even <= odd * 0.05) return "utf-16le";
  if (even >= 1 && even > units * 0.03 && odd <= even * 0.05) return "utf-16be";
  return null;
}
