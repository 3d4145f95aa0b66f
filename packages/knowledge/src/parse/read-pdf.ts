import "./stand-in-canvas.ts";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { VerbosityLevel, getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";
import type { PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import { fileError, fileTooLarge, sensibleTitle } from "../ingest-file.ts";
import type { FileText } from "../ingest-file.ts";
import { createLineBuilder } from "./pdf-lines.ts";
import type { PdfLine } from "./pdf-lines.ts";
import { pdfText } from "./pdf-text.ts";
import type { ReadLimits } from "./read-limits.ts";

/** Folder of pdfjs, with its character maps for Chinese, Japanese and Korean fonts. */
const PDFJS = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));

/** Number of bytes at the end of a PDF that are searched for its end mark. */
const TAIL_BYTES = 4_096;

/**
 * Reads the text of a PDF (ISO 32000) in content order: as Markdown, with headings recognized by font size, and the
 * start of each page. Throws `encrypted`, `truncated`, `damaged`, `too_many_pages`, and `no_text` for scanned pages.
 */
export async function readPdf(file: { name: string; bytes: Uint8Array }, limits: ReadLimits): Promise<FileText> {
  checkEnd(file);
  const task = getDocument({
    // pdfjs takes ownership of the buffer.
    data: new Uint8Array(file.bytes),
    verbosity: VerbosityLevel.ERRORS,
    isEvalSupported: false,
    useWorkerFetch: false,
    useSystemFonts: false,
    disableFontFace: true,
    cMapUrl: `${PDFJS}/cmaps/`,
    standardFontDataUrl: `${PDFJS}/standard_fonts/`,
  });
  try {
    const document = await task.promise;
    if (document.numPages > limits.pages) {
      const count = `has ${document.numPages} pages; the maximum is ${limits.pages}; split it into several files`;
      throw fileError(file.name, "too_many_pages", count);
    }
    const pages = await readPages(document, file.name, limits);
    const { text, pageStarts, headline } = pdfText(pages);
    if (text === "") {
      throw fileError(
        file.name,
        "no_text",
        "contains no text (its pages are scanned images); run text recognition (OCR) first",
      );
    }
    const { info } = await document.getMetadata();
    const named = "Title" in info && typeof info.Title === "string" ? sensibleTitle(info.Title) : null;
    return { text, mime: "text/markdown", title: named ?? headline, sourceMime: "application/pdf", pageStarts };
  } catch (error) {
    throw errorOf(error, file.name);
  } finally {
    await task.destroy();
  }
}

/** pdfjs reads as much as there is of a truncated file, so half a document would go unnoticed. */
function checkEnd({ name, bytes }: { name: string; bytes: Uint8Array }): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.lastIndexOf("%%EOF");
  if (end === -1 || end < buffer.length - Math.max(TAIL_BYTES, buffer.length * 0.1)) {
    throw fileError(name, "truncated", "is truncated: the end of the PDF is missing; copy or download it again");
  }
}

function errorOf(error: unknown, name: string): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === "PasswordException") {
    return fileError(name, "encrypted", "is password-protected; remove the password and add it again");
  }
  if (/^(?:InvalidPDF|Format|MissingPDF|UnknownError|Response)/.test(error.name)) {
    return fileError(
      name,
      "damaged",
      "is damaged: it is not a valid PDF; open it, save it again and add that file",
      error,
    );
  }
  return error;
}

async function readPages(document: PDFDocumentProxy, name: string, limits: ReadLimits): Promise<PdfLine[][]> {
  const pages: PdfLine[][] = [];
  let chars = 0;
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const lines = createLineBuilder();
    const reader = page.streamTextContent().getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      for (const item of part.value.items) {
        if (!("str" in item)) continue;
        chars += item.str.length;
        lines.add(item);
      }
      if (chars > limits.textBytes) {
        await reader.cancel(new Error("too much text"));
        throw fileTooLarge(name, `has more than ${limits.textBytes} characters of text; split it into several files`);
      }
    }
    pages.push(lines.end());
    page.cleanup();
  }
  return pages;
}
