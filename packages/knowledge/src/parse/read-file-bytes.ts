import { looksBinary } from "../looks-binary.ts";
import { decodeText } from "./decode-text.ts";
import { describeOle, detectSignature, detectTextFormat } from "./detect-format.ts";
import type { TextFormat } from "./detect-format.ts";
import { fileFault, fileTooLarge, fileUnsupported, formatMb } from "./file-fault.ts";
import type { FileText, FileToRead } from "./file-text.ts";
import type { ReadLimits } from "./read-limits.ts";

/** How each kind of text is read. Libraries are loaded when the first file needs them. */
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
 * Turns the bytes of a file into text, in this thread: `createFileReader` calls it in a worker. The content decides how
 * it is read. Throws a `ServiceError` that names the file and says what to do.
 */
export async function readFileBytes(file: FileToRead, limits: ReadLimits): Promise<FileText> {
  const read = await readAnyFormat(file, limits);
  // What no text holds and no database takes: NUL, lone surrogates, the noncharacters that mark places.
  const text = read.text.includes("\0") ? read.text.replaceAll("\0", "") : read.text;
  if (text.trim() === "") throw fileFault(file.name, "empty", "contains no text; add a file with text");
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
  if (bytes.byteLength === 0) throw fileFault(name, "empty", "is empty; add a file with text");
  if (file.format !== undefined) {
    return readText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"), file, limits);
  }
  const signature = detectSignature(bytes);
  if (signature.format === "pdf") return (await import("./read-pdf.ts")).readPdf(file, limits);
  if (signature.format === "zip") return (await import("./read-docx.ts")).readOffice(file, limits);
  if (signature.format === "other") throw fileUnsupported(name, signature.detail);
  if (signature.format === "ole") {
    const { isEncrypted, detail } = describeOle(bytes);
    throw isEncrypted ? fileFault(name, "encrypted", detail) : fileUnsupported(name, detail);
  }
  return readText(decodeText(bytes, charsetOf(file)), file, limits);
}

function readText(text: string, file: FileToRead, limits: ReadLimits): Promise<FileText> {
  if (looksBinary(text)) {
    throw fileFault(file.name, "binary", "is binary data, not text; add text, Markdown, HTML, PDF, DOCX, XLSX or CSV");
  }
  return TEXT_READERS[file.format ?? detectTextFormat(text, file)](text, file, limits);
}

const HEAD_BYTES = 4_096;

/** The charset that the server or the page itself declares. */
function charsetOf(file: FileToRead): string | undefined {
  const head = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, Math.min(file.bytes.byteLength, HEAD_BYTES));
  const declared =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(file.mime ?? "") ??
    /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head.toString("latin1")) ??
    /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]+)/i.exec(head.toString("latin1"));
  return declared?.[1];
}
