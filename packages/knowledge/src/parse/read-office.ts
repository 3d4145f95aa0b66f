import { fileUnsupported } from "./file-fault.ts";
import type { FileText, FileToRead } from "./file-text.ts";
import { openZip } from "./open-zip.ts";
import type { Zip } from "./open-zip.ts";
import type { ReadLimits } from "./read-limits.ts";

/** What an archive that is no DOCX or XLSX holds, told by a path in it, and what to do. */
const OTHERS: readonly (readonly [path: RegExp, detail: string])[] = [
  [/^ppt\/presentation\.xml$/, "is a PowerPoint presentation, which is not supported; export it as PDF"],
  [/^xl\/workbook\.bin$/, "is a binary Excel workbook (.xlsb), which is not supported; save it as .xlsx"],
  [/^visio\//, "is a Visio drawing, which is not supported; export it as PDF"],
  [/^META-INF\/container\.xml$/, "is an EPUB book, which is not supported; convert it to HTML or PDF"],
  [/^content\.xml$/, "is an OpenDocument file, which is not supported; save it as .docx, .xlsx or .pdf"],
  [/^Index\/.+\.iwa$/, "is an Apple iWork file, which is not supported; export it as .docx, .xlsx or .pdf"],
];

/** Reads a DOCX or XLSX, told apart by what is in the archive; other archives are refused by name. */
export async function readOffice(file: FileToRead, limits: ReadLimits): Promise<FileText> {
  const zip = await openZip(file, limits);
  if (zip.has("word/document.xml")) return (await import("./read-docx.ts")).readDocx(zip, file, limits);
  if (zip.has("xl/workbook.xml")) return (await import("./read-xlsx.ts")).readXlsx(zip, file, limits);
  throw fileUnsupported(file.name, describeOther(zip));
}

function describeOther(zip: Zip): string {
  const paths = zip.paths();
  const known = OTHERS.find(([path]) => paths.some((name) => path.test(name)));
  return known?.[1] ?? "is a ZIP archive; extract it and add the files in it";
}
