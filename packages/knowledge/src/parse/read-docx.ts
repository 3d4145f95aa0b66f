import { zipSync } from "fflate";
import mammoth from "mammoth";
import { cleanHtml } from "./clean-html.ts";
import { fileError, fileUnsupported } from "../ingest-file.ts";
import type { FileText, FileToRead } from "../ingest-file.ts";
import { htmlToMarkdown } from "./read-html.ts";
import { readCoreTitle, openZip } from "./open-zip.ts";
import type { Zip } from "./open-zip.ts";
import type { ReadLimits } from "./read-limits.ts";

/** Other formats of an archive, by a path in it, and what to do. */
const OTHERS: readonly (readonly [path: RegExp, detail: string])[] = [
  [/^ppt\/presentation\.xml$/, "is a PowerPoint presentation, which is not supported; export it as PDF"],
  [/^xl\/workbook\.bin$/, "is a binary Excel workbook (.xlsb), which is not supported; save it as .xlsx"],
  [/^visio\//, "is a Visio drawing, which is not supported; export it as PDF"],
  [/^META-INF\/container\.xml$/, "is an EPUB book, which is not supported; convert it to HTML or PDF"],
  [/^content\.xml$/, "is an OpenDocument file, which is not supported; save it as .docx, .xlsx or .pdf"],
  [/^Index\/.+\.iwa$/, "is an Apple iWork file, which is not supported; export it as .docx, .xlsx or .pdf"],
];

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** Styles that mammoth does not map by default. */
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
 * footers. mammoth gets an uncompressed copy of the archive with only the XML parts, which were unpacked within the
 * limits.
 */
async function readDocx(zip: Zip, file: { name: string; url?: string }, limits: ReadLimits): Promise<FileText> {
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
    throw fileError(
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
    // Too deeply nested; the caller distinguishes this from damage.
    if (error instanceof RangeError) throw error;
    throw fileError(
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

/** Reads a DOCX or XLSX, distinguished by the content of the archive; other archives are rejected by name. */
export async function readOffice(file: FileToRead, limits: ReadLimits): Promise<FileText> {
  const zip = await openZip(file, limits);
  if (zip.has("word/document.xml")) return readDocx(zip, file, limits);
  if (zip.has("xl/workbook.xml")) return (await import("./read-xlsx.ts")).readXlsx(zip, file, limits);
  throw fileUnsupported(file.name, describeOther(zip));
}

function describeOther(zip: Zip): string {
  const paths = zip.paths();
  const known = OTHERS.find(([path]) => paths.some((name) => path.test(name)));
  return known?.[1] ?? "is a ZIP archive; extract it and add the files in it";
}
