import { strToU8, zipSync } from "fflate";

/** Returns a DOCX with this XML as its body; `extra` adds or replaces parts. */
export function makeDocx(body: string, extra: Record<string, string | Uint8Array> = {}): Uint8Array {
  const word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const links = [...body.matchAll(/r:id="(https?:[^"]+)"/g)].map(([, url = ""], index) => ({
    url,
    id: `rIdLink${index}`,
  }));
  const linked = links.reduce((xml, { url, id }) => xml.replace(`r:id="${url}"`, `r:id="${id}"`), body);
  return zipParts({
    "[Content_Types].xml": contentTypes({
      "/word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
      "/word/styles.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml",
      "/word/numbering.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml",
    }),
    "_rels/.rels": relations([["rId1", `${office}/officeDocument`, "word/document.xml"]]),
    "word/_rels/document.xml.rels": relations([
      ["rId1", `${office}/styles`, "styles.xml"],
      ["rId2", `${office}/numbering`, "numbering.xml"],
      ...links.map(({ url, id }): [string, string, string] => [id, `${office}/hyperlink`, url]),
    ]),
    "word/styles.xml": `<w:styles xmlns:w="${word}">${[1, 2, 3]
      .map((level) => `<w:style w:type="paragraph" w:styleId="H${level}"><w:name w:val="heading ${level}"/></w:style>`)
      .join("")}</w:styles>`,
    "word/numbering.xml": `<w:numbering xmlns:w="${word}">${["bullet", "decimal"]
      .map(
        (format, id) =>
          `<w:abstractNum w:abstractNumId="${id}"><w:lvl w:ilvl="0"><w:numFmt w:val="${format}"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="${format}"/></w:lvl></w:abstractNum>`,
      )
      .join(
        "",
      )}<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
    "word/document.xml": `<w:document xmlns:w="${word}" xmlns:r="${office}"><w:body>${linked}</w:body></w:document>`,
    ...extra,
  });
}

/** Returns a paragraph of a DOCX: `style` is `H1` to `H3`, `list` is 1 for bullets and 2 for numbers. */
export function docxParagraph(text: string, check: { style?: string; list?: 1 | 2; level?: number } = {}): string {
  const style = check.style === undefined ? "" : `<w:pStyle w:val="${check.style}"/>`;
  const list =
    check.list === undefined
      ? ""
      : `<w:numPr><w:ilvl w:val="${check.level ?? 0}"/><w:numId w:val="${check.list}"/></w:numPr>`;
  return `<w:p><w:pPr>${style}${list}</w:pPr>${docxRun(text)}</w:p>`;
}

/** Returns a run of text in a paragraph of a DOCX. */
export function docxRun(text: string): string {
  return `<w:r><w:t xml:space="preserve">${text.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</w:t></w:r>`;
}

/** Returns a table of a DOCX. */
export function docxTable(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `<w:tc>${docxParagraph(text)}</w:tc>`;
  return `<w:tbl>${rows.map((row) => `<w:tr>${row.map(cell).join("")}</w:tr>`).join("")}</w:tbl>`;
}

/** Returns an XLSX of one sheet from the XML of its `sheetData`, for content that no library would write. */
export function makeXlsx(sheetData: string, extra: Record<string, string | Uint8Array> = {}): Uint8Array {
  const sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  return zipParts({
    "[Content_Types].xml": contentTypes({
      "/xl/workbook.xml": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    }),
    "_rels/.rels": relations([["rId1", `${office}/officeDocument`, "xl/workbook.xml"]]),
    "xl/workbook.xml": `<workbook xmlns="${sheet}" xmlns:r="${office}"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations([["rId1", `${office}/worksheet`, "worksheets/sheet1.xml"]]),
    "xl/worksheets/sheet1.xml": `<worksheet xmlns="${sheet}"><sheetData>${sheetData}</sheetData></worksheet>`,
    ...extra,
  });
}

/** Returns a ZIP archive. */
export function zipParts(parts: Record<string, string | Uint8Array>): Uint8Array {
  const files = Object.entries(parts).map(([path, part]) => [path, typeof part === "string" ? strToU8(part) : part]);
  return zipSync(Object.fromEntries(files) as Record<string, Uint8Array>);
}

/** Replaces the size of a file in the archive's directory and in the file's own header, like a manipulated archive. */
export function lieAboutSize(zip: Uint8Array, path: string, sizeBytes: number): Uint8Array {
  const lying = Buffer.from(zip);
  const central = lying.lastIndexOf(path) - 46;
  lying.writeUInt32LE(sizeBytes, central + 24);
  const local = lying.readUInt32LE(central + 42);
  lying.writeUInt32LE(sizeBytes, local + 22);
  return lying;
}

function contentTypes(parts: Record<string, string>): string {
  const overrides = Object.entries(parts).map(([name, type]) => `<Override PartName="${name}" ContentType="${type}"/>`);
  return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join("")}</Types>`;
}

function relations(list: readonly (readonly [id: string, type: string, target: string])[]): string {
  const items = list.map(([id, type, target]) => {
    const mode = target.startsWith("http") ? ' TargetMode="External"' : "";
    return `<Relationship Id="${id}" Type="${type}" Target="${target}"${mode}/>`;
  });
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items.join("")}</Relationships>`;
}
