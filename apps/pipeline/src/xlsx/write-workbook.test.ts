import { inflateRawSync } from "node:zlib";
import { describe, expect, jest, test } from "@jest/globals";
import ExcelJS from "exceljs";
import type { FoundTable } from "./find-tables.ts";
import {
  cleanCellText,
  escapeCellText,
  findDecimalMark,
  fixZipDates,
  guardFormulaStart,
  readNumber,
  sheetName,
  writeWorkbook,
} from "./write-workbook.ts";

describe("readNumber", () => {
  test.each([
    ["0", 0, "0"],
    ["42", 42, "0"],
    ["-7", -7, "0"],
    ["−7", -7, "0"],
    ["1.10", 1.1, "0.00"],
    ["1,234", 1234, "#,##0"],
    ["1,234.5", 1234.5, "#,##0.0"],
    ["-1,234,567.25", -1_234_567.25, "#,##0.00"],
    ["1234567.5", 1_234_567.5, "0.0"],
    ["4006381333931", 4_006_381_333_931, "0"],
    ["0.000123", 0.000123, "0.000000"],
    ["123456789012345", 123_456_789_012_345, "0"],
    ["12.5%", 0.125, "0.0%"],
    ["33.3 %", 0.333, "0.0%"],
    ["-5%", -0.05, "0%"],
    ["$1,234.50", 1234.5, '"$"#,##0.00'],
    ["-$5", -5, '"$"0'],
    ["€ 12", 12, '"€ "0'],
    ["12.50 €", 12.5, '0.00" €"'],
  ])("reads %s as a number that is shown as it was written", (text, value, numFmt) => {
    expect(readNumber(text, ".")).toEqual({ value, numFmt });
  });

  test.each([
    "",
    "-",
    "n/a",
    "00123",
    "-012",
    "01.5",
    "+5",
    "+49 30 123456",
    "(555) 123-4567",
    "555-1234",
    "555 123 456",
    "1.2.3",
    "1.2.3.4",
    "2026-11-21",
    "21.11.2026",
    "11/21/2026",
    "10:30",
    "1-2",
    "1/2",
    "1E5",
    "0x1F",
    "1e999",
    "Infinity",
    "NaN",
    "1,23",
    "12,34,567",
    "1,2345",
    "1234,567",
    "0,123",
    ".5",
    "5.",
    "1 234",
    "1_000",
    "1'000",
    "$5 %",
    "$-5-",
    "--5",
    "%5",
    "5%%",
    "5 kg",
    "=5",
    "@5",
    "١٢٣",
    "1234567890123456",
    "4111111111111111",
    "0.1234567890123456",
    "1.0000000000000000",
  ])("leaves %j a text", (text) => {
    expect(readNumber(text, ".")).toBeNull();
  });

  test.each([
    ["12,50", 12.5, "0.00"],
    ["1.234", 1234, "#,##0"],
    ["1.234,5", 1234.5, "#,##0.0"],
    ["1 234,50 €", 1234.5, '#,##0.00" €"'],
    ["-7,5 %", -0.075, "0.0%"],
    ["42", 42, "0"],
  ])("reads %s as a number in a table with decimal commas", (text, value, numFmt) => {
    expect(readNumber(text, ",")).toEqual({ value, numFmt });
  });

  test.each(["00,5", "1,234.5", "12.34", "1.23.456", "555 123", "0 123,5", "21.11.2026"])(
    "reads %j as text in a table with decimal commas",
    (text) => {
      expect(readNumber(text, ",")).toBeNull();
    },
  );

  test("does not read 50,000 digits, separators or spaces as a number", () => {
    for (const part of ["1", "1,", "1 ", ",111", ".111", " "]) {
      expect(readNumber(`1${part.repeat(50_000)}`, ".")).toBeNull();
      expect(readNumber(`1${part.repeat(50_000)}x`, ",")).toBeNull();
    }
  });
});

describe("findDecimalMark", () => {
  test.each([
    [["1,234"], "."],
    [["1.234"], "."],
    [["12,50", "7,90"], ","],
    [["1.234,5", "1.234"], ","],
    [["7,5 %"], ","],
    [["12,50", "0.5"], "."],
    [["12,50", "1,234.5"], "."],
    [["80,443", "1,2"], "."],
    [["Berlin", ""], "."],
    [[], "."],
  ])("reads the cells %j with the decimal mark %j", (cells, mark) => {
    expect(findDecimalMark(cells)).toBe(mark);
  });
});

describe("cleanCellText", () => {
  test("drops what XML 1.0 forbids and keeps tabs and line breaks", () => {
    expect(cleanCellText("a\u0000\u0008\u000b\u001f\u007f\u0085\ufffe\uffffb\tc\r\nd\re")).toBe("ab\tc\nd\ne");
  });

  test("replaces lone surrogates and keeps pairs", () => {
    expect(cleanCellText("\ud800a\udc00 😀")).toBe("\ufffda\ufffd 😀");
  });

  test("keeps right-to-left text and its marks", () => {
    expect(cleanCellText("\u202bשלום\u202c مرحبا")).toBe("\u202bשלום\u202c مرحبا");
  });

  test("cuts at 32,767 UTF-16 units with an ellipsis and never halves a character", () => {
    expect(cleanCellText("x".repeat(32_767))).toBe("x".repeat(32_767));
    expect(cleanCellText("x".repeat(32_768))).toBe(`${"x".repeat(32_766)}…`);
    const cut = cleanCellText(`x${"😀".repeat(20_000)}`);
    expect(cut.isWellFormed()).toBe(true);
    expect(cut).toHaveLength(32_766);
  });

  test("keeps at most 253 line breaks", () => {
    expect(cleanCellText("a\n".repeat(300)).split("\n")).toHaveLength(254);
  });

  test("escapes only text that looks like a numbered character of Office Open XML", () => {
    expect(escapeCellText("_x0041_ _x003d_1_x00zz_ _x41_ snake_x_name")).toBe(
      "_x005F_x0041_ _x005F_x003d_1_x00zz_ _x41_ snake_x_name",
    );
    expect(escapeCellText("_x0041_x0042_")).toBe("_x005F_x0041_x005F_x0042_");
  });

  test.each(["=1+1", "=HYPERLINK(1)", "+cmd|' /C calc'!A0", "-2+3+A1", "@SUM(1)", "\t=1", "\n=1", "\uff1d1"])(
    "puts an apostrophe before %j, which a spreadsheet could run after it was saved as CSV",
    (text) => {
      expect(guardFormulaStart(text)).toBe(`'${text}`);
    },
  );

  test.each(["-5", "+49 30 123-45", "-1,250.00 €", "-", "a=1", "1-2", ""])("leaves %j as it is", (text) => {
    expect(guardFormulaStart(text)).toBe(text);
  });

  test("keeps an escaped text within the limit of a cell", () => {
    expect(guardFormulaStart(`=${"x".repeat(32_766)}`)).toHaveLength(32_767);
  });
});

describe("fixZipDates", () => {
  test.each([Buffer.alloc(0), Buffer.from("not an archive, but longer than its end record")])(
    "throws for bytes that are not an archive",
    (bytes) => {
      expect(() => fixZipDates(bytes)).toThrow("not a ZIP archive");
    },
  );

  test("throws for a directory with an invalid offset", () => {
    const end = Buffer.alloc(68);
    end.writeUInt32LE(0x06054b50, 46);
    end.writeUInt16LE(1, 56);
    expect(() => fixZipDates(end)).toThrow("directory is damaged");
  });
});

describe("sheetName", () => {
  test.each([
    [null, "Table"],
    ["", "Table"],
    ["[*?:\\/]", "Table"],
    ["'''", "Table"],
    ["Prices", "Prices"],
    ["Prices: 2026/27 [net]", "Prices 2026 27 net"],
    ["'quoted' it's", "quoted' it's"],
    ["History", "History table"],
    ["HISTORY", "HISTORY table"],
    ["Цены и сроки", "Цены и сроки"],
    ["a\u0000b\tc\nd\u202ee\u200bf", "a b c d e f"],
    ["x".repeat(40), "x".repeat(31)],
    [`${"x".repeat(30)}😀`, "x".repeat(30)],
    [`${"x".repeat(30)}' rest`, "x".repeat(30)],
    ["\ud800", "Table"],
    ["\u200d\u2067", "Table"],
    ["👩‍🔬 می‌شود", "👩‍🔬 می‌شود"],
  ])("names the sheet of the heading %j %j", (heading, name) => {
    expect(sheetName(heading)).toBe(name);
  });
});

function table(header: string[], rows: string[][], more: Partial<FoundTable> = {}): FoundTable {
  return {
    heading: null,
    header,
    rows,
    align: header.map(() => null),
    totalRows: rows.length,
    totalColumns: header.length,
    ...more,
  };
}

/** Returns the entries of a ZIP archive by name; throws if one has another date than the fixed one. */
function unzip(archive: Buffer): Map<string, string> {
  const end = archive.length - 22;
  const entries = new Map<string, string>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const name = archive.toString("utf8", at + 46, at + 46 + archive.readUInt16LE(at + 28));
    const local = archive.readUInt32LE(at + 42);
    for (const date of [archive.readUInt32LE(at + 12), archive.readUInt32LE(local + 10)]) {
      if (date !== 0x21_0000) throw new Error(`${name} has the date ${date.toString(16)}`);
    }
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const isDeflated = archive.readUInt16LE(at + 10) === 8;
    entries.set(name, (isDeflated ? inflateRawSync(bytes) : bytes).toString("utf8"));
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

async function readSheet(content: Buffer): Promise<ExcelJS.Worksheet> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(
    content.buffer.slice(content.byteOffset, content.byteOffset + content.length) as ArrayBuffer,
  );
  const [sheet] = workbook.worksheets;
  if (sheet === undefined) throw new Error("the workbook has no sheet");
  return sheet;
}

describe("writeWorkbook", () => {
  test("writes numbers as numbers, with a format that shows them as the text did", async () => {
    const sheet = await readSheet(
      await writeWorkbook(table(["n"], [["42"], ["1,234.50"], ["-3"], ["12.5%"], ["00123"], ["1.2.3"]])),
    );
    const cells = [2, 3, 4, 5, 6, 7].map((row) => sheet.getCell(row, 1));
    expect(cells.map((cell) => cell.value)).toEqual([42, 1234.5, -3, 0.125, "00123", "1.2.3"]);
    expect(cells.map((cell) => cell.numFmt)).toEqual(["0", "#,##0.00", "0", "0.0%", "@", "@"]);
  });

  test("reads decimal commas if the table has them", async () => {
    const sheet = await readSheet(await writeWorkbook(table(["n"], [["12,50"], ["1.234,00"], ["1.234"]])));
    expect([2, 3, 4].map((row) => sheet.getCell(row, 1).value)).toEqual([12.5, 1234, 1234]);
  });

  const formulas = ["=1+1", '=HYPERLINK("https://evil.example","x")', "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\n=1+1"];
  test.each([...formulas, "=cmd|' /C calc'!A0", "{=1}", "_x003D_1+1", "<f>1</f>", "]]><f>1</f>"])(
    "writes %j as a string cell, in header and body: no formula, no link",
    async (text) => {
      // Texts that a CSV file could turn into a formula have an apostrophe in front.
      const shown = /^[=+\-@\t\n]/.test(text) ? `'${text}` : text;
      const content = await writeWorkbook(table([text], [[text]]));
      const sheet = await readSheet(content);
      for (const row of [1, 2]) {
        expect(sheet.getCell(row, 1)).toMatchObject({ type: ExcelJS.ValueType.String, value: shown, numFmt: "@" });
      }
      const entries = unzip(content);
      const xml = entries.get("xl/worksheets/sheet1.xml") ?? "";
      expect(xml.match(/<c [^>]*t="s"[^>]*>/g)).toHaveLength(2);
      for (const [name, part] of entries) {
        if (name !== "xl/sharedStrings.xml") expect(part).not.toContain("HYPERLINK");
        expect(part).not.toMatch(/<f[\s>]|<hyperlink|t="str"|externalLink|TargetMode="External"/);
      }
    },
  );

  test("makes the first row bold and frozen, whatever its content", async () => {
    const sheet = await readSheet(await writeWorkbook(table(["2025", ""], [["1", "2"]])));
    expect(sheet.views[0]).toMatchObject({ state: "frozen", ySplit: 1 });
    expect(sheet.getCell("A1").value).toBe("2025");
    expect([1, 2].map((column) => sheet.getCell(1, column).font.bold)).toEqual([true, true]);
    expect(sheet.getCell("A2").font.bold).toBeUndefined();
  });

  test("fits columns to their text within limits, and wraps longer text", async () => {
    const long = "word ".repeat(100).trim();
    const content = await writeWorkbook(table(["a", "b", "c", "d"], [["x", "x".repeat(30), long, "表".repeat(10)]]));
    const sheet = await readSheet(content);
    expect([1, 2, 3, 4].map((column) => sheet.getColumn(column).width)).toEqual([10, 32, 62, 22]);
    expect([1, 2, 3, 4].map((column) => sheet.getCell(2, column).alignment.wrapText === true)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  test("aligns columns as the Markdown does", async () => {
    const sheet = await readSheet(
      await writeWorkbook(table(["a", "b", "c"], [["x", "y", "z"]], { align: ["right", "center", null] })),
    );
    expect([1, 2, 3].map((column) => sheet.getCell(2, column).alignment.horizontal)).toEqual([
      "right",
      "center",
      undefined,
    ]);
  });

  test("names the sheet after the heading", async () => {
    const sheet = await readSheet(await writeWorkbook(table(["a"], [], { heading: "Q1/Q2: <prices> & more" })));
    expect(sheet.name).toBe("Q1 Q2 <prices> & more");
  });

  test("notes below a truncated table how much of it is shown", async () => {
    const sheet = await readSheet(
      await writeWorkbook(table(["a"], [["1"], ["2"]], { totalRows: 1_234, totalColumns: 150 })),
    );
    expect(sheet.getCell("A4").value).toBeNull();
    expect(sheet.getCell("A5").value).toBe(
      "Only the first 2 of 1,234 rows and 1 of 150 columns. The message contains the complete table.",
    );
    const whole = await readSheet(await writeWorkbook(table(["a"], [["1"], ["2"]])));
    expect(whole.rowCount).toBe(3);
  });

  test("writes well-formed XML of any text, which reads back the same", async () => {
    const texts = ["<a> & \"b\" 'c'", "\u202eabc\u202c", "😀", "a\nb", "_x0041_", "_x005F_", "\u00a0x", "&#0;", "]]>"];
    const content = await writeWorkbook(
      table(
        ["\u0000h\ud800"],
        [...texts, "a\u0001\ufffeb"].map((text) => [text]),
      ),
    );
    const sheet = await readSheet(content);
    expect(sheet.getCell("A1").value).toBe("h\ufffd");
    expect(texts.map((_, index) => sheet.getCell(index + 2, 1).value)).toEqual(texts);
    expect(sheet.getCell(texts.length + 2, 1).value).toBe("ab");
    const forbidden = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/u;
    for (const part of unzip(content).values()) expect(forbidden.test(part)).toBe(false);
  });

  test("returns the same bytes for the same table at any time", async () => {
    const contents: Buffer[] = [];
    for (const now of ["2026-11-21T10:00:00Z", "2031-02-03T04:05:06Z"]) {
      jest.useFakeTimers({
        now: new Date(now),
        doNotFake: [
          "hrtime",
          "nextTick",
          "performance",
          "queueMicrotask",
          "setImmediate",
          "clearImmediate",
          "setInterval",
          "clearInterval",
          "setTimeout",
          "clearTimeout",
        ],
      });
      try {
        contents.push(await writeWorkbook(table(["a"], [["1"]], { heading: "Same" })));
      } finally {
        jest.useRealTimers();
      }
    }
    const [first, second] = contents;
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(true);
    expect(unzip(first ?? Buffer.alloc(0)).get("docProps/core.xml")).toContain("1980-01-01T00:00:00Z");
  });

  test("yields to other work of the process between the rows of a large table", async () => {
    const rows = Array.from({ length: 1_000 }, (_, row) =>
      Array.from({ length: 20 }, (_, column) => `${row}.${column}`),
    );
    let turns = 0;
    let isWriting = true;
    const count = (): void => {
      turns++;
      if (isWriting) setImmediate(count);
    };
    setImmediate(count);
    const content = await writeWorkbook(table(Array.from({ length: 20 }, String), rows));
    isWriting = false;
    expect(turns).toBeGreaterThan(9);
    expect((await readSheet(content)).rowCount).toBe(1_001);
  });
});
