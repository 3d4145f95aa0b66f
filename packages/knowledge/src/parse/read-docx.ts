import { zipSync } from "fflate";
import mammoth from "mammoth";
import { cleanHtml } from "./clean-html.ts";
import { fileFault } from "./file-fault.ts";
import type { FileText } from "./file-text.ts";
import { htmlToMarkdown } from "./html-to-markdown.ts";
import type { Zip } from "./open-zip.ts";
import { readCoreTitle } from "./read-core-title.ts";
import type { ReadLimits } from "./read-limits.ts";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** Styles that mammoth does not know by itself. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='heading 7'] => h6:fresh",
  "p[style-name='Quote'] => blockquote:fresh",
  "p[style-name='Intense Quote'] => blockquote:fresh",
  "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
  "p[style-name='Source Code'] => pre:separator('\\n')",
  "p[style-name='Code'] => pre:separator('\\n')",
  "r[style-name='Verbatim Char'] => code",
  "r[style-name='HTML Code'] => code",
  "r[style-name='Code Char'] => code",
];

/**
 * Reads a Word document: headings, lists, tables, links and footnotes as Markdown; no images, comments, headers and
 * footers. mammoth gets a copy of the archive in which nothing is compressed and which holds only parts of XML that
 * were unpacked within the limits.
 */
export async function readDocx(zip: Zip, file: { name: string; url?: string }, limits: ReadLimits): Promise<FileText> {
  const title = await readCoreTitle(zip, file);
  const parts: Record<string, Uint8Array> = {};
  for (const path of zip
    .paths()
    .filter((path) => /\.(?:xml|rels)$/i.test(path) && !/^(?:customXml|docProps)\//.test(path))) {
    parts[path] = (await zip.bytes(path)) ?? new Uint8Array();
  }
  const html = await convert(parts, file.name);
  const { html: cleaned } = cleanHtml(html, { extent: "everything", maxDepth: limits.htmlDepth });
  const text = htmlToMarkdown(cleaned);
  if (text === "")
    throw fileFault(
      file.name,
      "no_text",
      "contains no text; if its pages are images, run text recognition (OCR) first",
    );
  return { text, mime: "text/markdown", title: title ?? headlineOf(text), sourceMime: DOCX };
}

async function convert(parts: Record<string, Uint8Array>, name: string): Promise<string> {
  try {
    const buffer = Buffer.from(zipSync(parts, { level: 0 }));
    const { value } = await mammoth.convertToHtml(
      { buffer },
      {
        styleMap: STYLES,
        convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
        externalFileAccess: false,
      },
    );
    return value;
  } catch (error) {
    // Nested too deep, which is told apart from damage further up.
    if (error instanceof RangeError) throw error;
    throw fileFault(
      name,
      "damaged",
      "is damaged: its Word content cannot be read; open it, save it again and add that file",
      error,
    );
  }
}

function headlineOf(markdown: string): string | null {
  return (
    /^# (.+)/m
      .exec(markdown)?.[1]
      ?.replace(/[*`]|\\(?=\p{P})/gu, "")
      .trim() ?? null
  );
}
