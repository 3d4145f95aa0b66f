import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createFileReader } from "@svc/knowledge";
import type { FileReader, FileToRead } from "@svc/knowledge";
import ExcelJS from "exceljs";
import { docxParagraph, docxRun, docxTable, makeDocx, makeXlsx } from "./make-office-files.ts";
import { makePdf } from "./make-pdf.ts";
import type { Draw } from "./make-pdf.ts";

let reader: FileReader;

beforeAll(() => {
  reader = createFileReader();
});

afterAll(async () => {
  await reader.close();
});

const read = (name: string, content: string | Uint8Array, more: Partial<FileToRead> = {}) =>
  reader.read({ name, bytes: typeof content === "string" ? Buffer.from(content) : content, ...more });

describe("text", () => {
  test("is unchanged, whatever it contains, and has no title", async () => {
    expect(await read("notes.txt", "# No heading\n\n<b>Keep</b> [this](javascript:x).\n")).toEqual({
      text: "# No heading\n\n<b>Keep</b> [this](javascript:x).",
      mime: "text/plain",
      title: null,
      sourceMime: "text/plain",
    });
  });

  test("is read as UTF-8 and UTF-16 with and without a byte order mark, and as Windows-1252", async () => {
    const text = "Grüße – „Straße“ kostet 5 €\nNächste Zeile";
    const utf16 = Buffer.from(text, "utf16le");
    const mark = Buffer.from([0xff, 0xfe]);
    const windows = Buffer.from("Caf\xe9 \x93quoted\x94 \x80 5", "latin1");
    const files = [
      Buffer.from(text),
      Buffer.from(`\uFEFF${text.replace("\n", "\r\n")}`),
      utf16,
      Buffer.concat([mark, utf16]),
      Buffer.from(utf16).swap16(),
      Buffer.concat([mark, utf16]).swap16(),
    ];
    const texts = await Promise.all(files.map(async (bytes) => (await read("a.txt", bytes)).text));
    expect(texts).toEqual(files.map(() => text));
    expect((await read("a.txt", windows)).text).toBe("Café “quoted” € 5");
  });

  test("does not change the caller's bytes, even if they are part of a larger buffer", async () => {
    const whole = Buffer.from("before THE TEXT after");
    expect((await read("a.txt", whole.subarray(7, 15))).text).toBe("THE TEXT");
    expect(whole.toString()).toBe("before THE TEXT after");
  });
});

describe("Markdown", () => {
  test("keeps its formatting, and front matter provides the title and is not part of the text", async () => {
    const source =
      "---\ntitle: 'Refunds: how'\ntags: [money]\n---\n\n# Other\n\n- **a**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    expect(await read("refunds.md", source)).toEqual({
      text: "# Other\n\n- **a**\n\n| a | b |\n|---|---|\n| 1 | 2 |",
      mime: "text/markdown",
      title: "Refunds: how",
      sourceMime: "text/markdown",
    });
  });
});

describe("HTML", () => {
  test("becomes Markdown of its main content, with absolute links", async () => {
    const page = `<!doctype html><html><head><title>Refunds – Acme</title><script>let a = "<p>no</p>";</script></head><body>
      <nav><a href="/">Home</a></nav><main><h1>Refunds</h1><p>See the <a href="terms?a=(1)">terms</a>.</p></main>
      <footer>Imprint</footer></body></html>`;
    expect(await read("download", page, { url: "https://acme.example/help/refunds" })).toEqual({
      text: "# Refunds\n\nSee the [terms](https://acme.example/help/terms?a=%281%29).",
      mime: "text/markdown",
      title: "Refunds – Acme",
      sourceMime: "text/html",
      links: ["https://acme.example/", "https://acme.example/help/terms?a=(1)"],
    });
  });

  test("is read in the encoding that it declares", async () => {
    const page = Buffer.from(
      '<html><head><meta charset="iso-8859-2"></head><body><p>\xb1\xe6\xea</p></body>',
      "latin1",
    );
    expect((await read("a.html", page)).text).toBe("ąćę");
  });
});

describe("DOCX", () => {
  test("keeps headings, lists, tables, links and bold text", async () => {
    const bytes = makeDocx(
      [
        docxParagraph("Employee handbook", { style: "H1" }),
        docxParagraph("Leave & <more>", { style: "H2" }),
        `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>30 days</w:t></w:r>${docxRun(" a year, see ")}<w:hyperlink r:id="https://a.example/leave">${docxRun("policy")}</w:hyperlink>.</w:p>`,
        docxParagraph("ask", { list: 1 }),
        docxParagraph("by mail", { list: 1, level: 1 }),
        docxParagraph("first", { list: 2 }),
        docxParagraph("second", { list: 2 }),
        docxTable([
          ["Grade", "Days"],
          ["A | B", "31"],
        ]),
      ].join(""),
    );
    expect(await read("handbook.docx", bytes)).toEqual({
      text: [
        "# Employee handbook",
        "## Leave & \\<more>",
        "**30 days** a year, see [policy](https://a.example/leave)",
        "- ask\n  - by mail",
        "1. first\n2. second",
        "| Grade | Days |\n| --- | --- |\n| A \\| B | 31 |",
      ].join("\n\n"),
      mime: "text/markdown",
      title: "Employee handbook",
      sourceMime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    });
  });

  test("has the title of its properties, unless that is meaningless", async () => {
    const core = (title: string) => ({
      "docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>${title}</dc:title></cp:coreProperties>`,
    });
    const titles = ["Travel &amp; expenses", "Microsoft Word - x.doc", "Document1"].map(async (title) => {
      return (await read("a.docx", makeDocx(docxParagraph("Text."), core(title)))).title;
    });
    expect(await Promise.all(titles)).toEqual(["Travel & expenses", null, null]);
  });
});

describe("XLSX", () => {
  test("becomes a heading and a table for each visible sheet, with values as they are displayed", async () => {
    const book = new ExcelJS.Workbook();
    book.title = "Price list";
    const sheet = book.addWorksheet("Prices & terms");
    sheet.addRows([
      ["Plan", "Price", "Since", "Share", "Paid", "Note"],
      [],
      ["Basic", 1234.5, new Date(Date.UTC(2025, 2, 4)), 0.256, true, "a | b\nc"],
      ["Pro", { formula: "B3*2", result: 2469 }, new Date(Date.UTC(2025, 11, 24)), 0.1 + 0.2],
    ]);
    sheet.getCell("B3").numFmt = '"$"#,##0.00';
    sheet.getCell("C3").numFmt = "dd/mm/yyyy";
    sheet.getCell("C4").numFmt = "d mmm yyyy";
    sheet.getCell("D3").numFmt = "0.0%";
    sheet.getCell("ZZ4").value = { richText: [{ text: "far " }, { text: "away", font: { bold: true } }] };
    book.addWorksheet("Internal", { state: "hidden" }).addRow(["secret"]);
    book.addWorksheet("Empty");
    book.addWorksheet("Links").addRows([["Name"], [{ text: "Acme", hyperlink: "https://acme.example" }]]);
    expect(await read("prices.xlsx", new Uint8Array(await book.xlsx.writeBuffer()))).toEqual({
      text: [
        "## Prices & terms",
        [
          "| Plan | Price | Since | Share | Paid | Note |  |",
          "| --- | --- | --- | --- | --- | --- | --- |",
          "| Basic | $1,234.50 | 04/03/2025 | 25.6% | TRUE | a \\| b c |  |",
          "| Pro | 2469 | 24 Dec 2025 | 0.3 |  |  | far away |",
        ].join("\n"),
        "## Links",
        "| Name |\n| --- |\n| Acme |",
      ].join("\n\n"),
      mime: "text/markdown",
      title: "Price list",
      sourceMime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    });
  });

  test("counts dates from 1904 if the workbook does", async () => {
    const workbook = `<workbook xmlns:r="r"><workbookPr date1904="1"/><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`;
    const styles = `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`;
    const bytes = makeXlsx(`<row><c r="A1" s="1"><v>1</v></c></row>`, {
      "xl/workbook.xml": workbook,
      "xl/styles.xml": styles,
    });
    expect((await read("a.xlsx", bytes)).text).toContain("1904-01-02");
  });
});

describe("CSV", () => {
  test("becomes a table, with any separator", async () => {
    const table = "| Name | Price | Note |\n| --- | --- | --- |\n| Jürgen | 3,50 | a \\| b c |\n| Ann | 4 |  |";
    const sources = {
      "a.csv": 'Name;Price;Note\r\nJürgen;3,50;"a | b\r\nc"\r\n;;\r\nAnn;4;\r\n',
      "b.csv": 'Name,Price,Note\nJürgen,"3,50","a | b\nc"\nAnn,4,\n',
      "c.tsv": 'Name\tPrice\tNote\nJürgen\t3,50\t"a | b\nc"\nAnn\t4\t\n',
    };
    const texts = Object.entries(sources).map(async ([name, source]) => (await read(name, source)).text);
    expect(await Promise.all(texts)).toEqual([table, table, table]);
  });
});

describe("PDF", () => {
  const sentence = "The device has to stand upright and well away from heat, or its fan wears out before its time. ";
  const frame =
    (page: number): Draw =>
    (document) => {
      document.fontSize(8).text("Acme manual", 72, 30).text(`Page ${page} of 3`, 72, 780, { lineBreak: false });
    };
  const makeManual = () =>
    makePdf(
      [
        (document) => {
          frame(1)(document);
          document.fontSize(22).text("Router guide", 72, 72).moveDown();
          document
            .fontSize(11)
            .text(`${sentence.repeat(3)}Please con-\nnect it first.`)
            .moveDown();
          document.fontSize(15).text("1. Installation").moveDown();
          document.fontSize(11).text("• Press the button").text("• Wait").moveDown();
          document.text("This sentence is not finished on the first page but goes on", 72, 700);
        },
        (document) => {
          frame(2)(document);
          document.fontSize(11).text("over to the second one.", 72, 72).moveDown().fontSize(15).text("2. Prices");
          for (const [row, cells] of [
            ["Plan", "Price"],
            ["Basic", "$5"],
            ["Pro", "$10"],
          ].entries()) {
            document.fontSize(11);
            for (const [column, cell] of cells.entries()) {
              document.text(cell, 72 + column * 150, 150 + row * 16, { lineBreak: false });
            }
          }
        },
        (document) => {
          frame(3)(document);
          document.fontSize(15).text("3. Support", 72, 72).fontSize(11).text("Write to us_all.");
        },
      ],
      { info: { Title: "The router guide" } },
    );

  test("is read across lines and pages, without headers and footers, and records where pages begin", async () => {
    const { text, pageStarts = [], ...rest } = await read("guide.pdf", await makeManual());
    expect(text).toBe(
      [
        "# Router guide",
        `${sentence.repeat(3)}Please connect it first.`,
        "## 1. Installation",
        "- Press the button\n- Wait",
        "This sentence is not finished on the first page but goes on over to the second one.",
        "## 2. Prices",
        "| Plan | Price |\n| --- | --- |\n| Basic | $5 |\n| Pro | $10 |",
        "## 3. Support",
        "Write to us_all.",
      ].join("\n\n"),
    );
    expect(pageStarts.map((start) => text.slice(start, start + 12))).toEqual([
      "# Router gui",
      "over to the ",
      "## 3. Suppor",
    ]);
    expect(rest).toEqual({ mime: "text/markdown", title: "The router guide", sourceMime: "application/pdf" });
  });

  test("is opened if it is only protected against changes", async () => {
    const bytes = await makePdf([(document) => document.text("Read me")], { ownerPassword: "secret" });
    expect((await read("a.pdf", bytes)).text).toBe("Read me");
  });
});

test("the type of a file is detected by its content, not its extension", async () => {
  const pdf = await makePdf([(document) => document.text("From a PDF")]);
  const kinds = [
    read("page.pdf", "<!doctype html><p>From HTML</p>"),
    read("table.xls", "<html><body><table><tr><th>A<th>B<tr><td>1<td>2</table>"),
    read("doc.txt", makeDocx(docxParagraph("From DOCX"))),
    read("sheet.docx", makeXlsx(`<row><c r="A1" t="inlineStr"><is><t>From XLSX</t></is></c></row>`)),
    read("report.html", pdf),
  ];
  expect((await Promise.all(kinds)).map(({ text }) => text)).toEqual([
    "From HTML",
    "| A | B |\n| --- | --- |\n| 1 | 2 |",
    "From DOCX",
    "## Data\n\n| From XLSX |\n| --- |",
    "From a PDF",
  ]);
});
