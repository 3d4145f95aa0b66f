import { describe, expect, jest, test } from "@jest/globals";
import ExcelJS from "exceljs";
import type { AttachmentDraft } from "@svc/contracts";
import { tableAttachments, tableFileName } from "./table-attachments.ts";

const TABLE = "| Plan | Price |\n|---|---:|\n| Basic | 1,234.5 |\n| Pro | =1+1 |\n";

async function format(text: string) {
  const warnings: { text: string; error?: unknown }[] = [];
  const files = await tableAttachments(text, (warning, error) =>
    warnings.push(error === undefined ? { text: warning } : { text: warning, error }),
  );
  return { files, warnings };
}

async function readSheet(item: AttachmentDraft | undefined): Promise<ExcelJS.Worksheet> {
  if (item === undefined) throw new Error("there is no file");
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(Uint8Array.from(item.content).buffer);
  const [sheet] = workbook.worksheets;
  if (sheet === undefined) throw new Error("the workbook has no sheet");
  return sheet;
}

describe("tableAttachments", () => {
  test("returns each table as an XLSX file", async () => {
    const text = `Intro\r\n\n## Prices\n\n${TABLE}\n\`\`\`\n${TABLE}\`\`\`\n\n> ${TABLE.replaceAll("\n", "\n> ")}\n`;
    const { files, warnings } = await format(text);
    expect(files).toMatchObject(
      ["prices.xlsx", "prices-2.xlsx"].map((filename) => ({
        type: "attachment",
        filename,
        mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      })),
    );
    const sheet = await readSheet(files[0]);
    expect(sheet.name).toBe("Prices");
    expect(sheet.getSheetValues().slice(1)).toEqual([
      [undefined, "Plan", "Price"],
      [undefined, "Basic", 1234.5],
      [undefined, "Pro", "'=1+1"],
    ]);
    expect(warnings).toEqual([]);
  });

  test("writes at most ten tables under unique safe names, and warns about the others", async () => {
    const { files, warnings } = await format(`${TABLE}\n# ../Table 2\n\n${`${TABLE}\n`.repeat(11)}`);
    expect(files).toHaveLength(10);
    expect(files.map((file) => file.filename).slice(0, 3)).toEqual(["table.xlsx", "table-2.xlsx", "table-2-2.xlsx"]);
    expect(new Set(files.map((file) => file.filename)).size).toBe(10);
    expect(warnings).toEqual([{ text: "only the first 10 of 12 tables exported to XLSX" }]);
  });

  test("omits only the file of a table that cannot be written, and warns", async () => {
    const error = new Error("no memory");
    jest.spyOn(ExcelJS.Workbook.prototype, "addWorksheet").mockImplementationOnce(() => {
      throw error;
    });
    try {
      const { files, warnings } = await format(`${TABLE}\n# Second\n\n${TABLE}`);
      expect(files.map(({ filename }) => filename)).toEqual(["second.xlsx"]);
      expect(warnings).toEqual([{ text: "failed to export table 1 to XLSX", error: error }]);
    } finally {
      jest.restoreAllMocks();
    }
  });

  test("omits only the files of a text that cannot be searched, and warns", async () => {
    const { files, warnings } = await format(`${"> ".repeat(25_000)}\n\n${TABLE}`);
    expect(files).toEqual([]);
    expect(warnings).toEqual([{ text: "failed to find tables in the answer", error: expect.any(RangeError) }]);
  });

  test("does not search texts of more than 100,000 characters, and warns", async () => {
    const { files, warnings } = await format(`${"x".repeat(100_000)}\n\n${TABLE}`);
    expect(files).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  test("truncates a file to 1,000 rows and 100 columns, with a note in the file", async () => {
    const long = await format(`|a|b|\n|-|-|\n${"|1|2|\n".repeat(1_200)}`);
    const rows = await readSheet(long.files[0]);
    expect(rows.getCell(1001, 1).value).toBe(1);
    expect(rows.getCell(1002, 1).value).toBeNull();
    expect(rows.getCell(1003, 1).value).toMatch(/^Only the first 1,000 of 1,200 rows\./);
    const wide = await format(`${"|a".repeat(10_000)}\n${"|-".repeat(10_000)}\n${"|1\n".repeat(5_000)}`);
    const columns = await readSheet(wide.files[0]);
    expect(columns.columnCount).toBe(100);
    expect(columns.getCell(1003, 1).value).toMatch(/^Only the first 1,000 of 5,000 rows and 100 of 10,000 columns\./);
  });

  test.each([
    ["one cell of 50,000 characters", `|a|\n|-|\n|${"x".repeat(50_000)}|\n`],
    ["one cell of 50,000 characters of formatting", `|a|\n|-|\n|${"*a ".repeat(16_000)}|\n`],
    ["16,000 rows", `|a|\n|-|\n${"|1\n".repeat(16_000)}`],
    [
      "fourteen tables of 100 columns and 1,000 short rows",
      `${"|a".repeat(100)}\n${"|-".repeat(100)}\n${"|1\n".repeat(1_000)}\n`.repeat(14),
    ],
    ["3,000 tables", "|a|\n|-|\n|1|\n\n".repeat(3_000)],
    ["a table in fifteen lists", `${"- ".repeat(15)}|a|\n${"  ".repeat(15)}|-|\n${"  ".repeat(15)}|1|\n`],
    ["bidirectional marks", `# \u202eslx\n\n|\u202ea|\n|-|\n|\u2067=1+1\u2069|\n`],
  ])("writes files that can be read, and of bounded size, from %s", async (_what, text) => {
    const { files } = await format(text);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(file.filename).toMatch(/^[a-z0-9-]{1,70}\.xlsx$/);
      expect(file.content.length).toBeLessThan(200_000);
      expect((await readSheet(file)).rowCount).toBeLessThanOrEqual(1_003);
    }
  });

  test("returns the same bytes for the same text", async () => {
    const [first, second] = [await format(TABLE), await format(TABLE)];
    expect(first.files).toEqual(second.files);
  });
});

describe("tableFileName", () => {
  test.each([
    [null, "table.xlsx"],
    ["", "table.xlsx"],
    ["Prices", "prices.xlsx"],
    ["Prices & Terms (2026)", "prices-terms-2026.xlsx"],
    ["Größe, Øre, Žluťoučký", "grosse-ore-zlutoucky.xlsx"],
    ["Цены", "table.xlsx"],
    ["../../etc/passwd", "etc-passwd.xlsx"],
    ["C:\\Windows\\con", "c-windows-con.xlsx"],
    ["CON", "table-con.xlsx"],
    ["lpt1", "table-lpt1.xlsx"],
    ['a"; filename="evil.exe\r\nX: y', "a-filename-evil-exe-x-y.xlsx"],
    ["\u202excod.exe", "xcod-exe.xlsx"],
    ["-_.", "table.xlsx"],
  ])("gives the table under %j the safe name %j", (heading, name) => {
    expect(tableFileName(heading, new Set())).toBe(name);
  });

  test("truncates a long heading quickly", () => {
    expect(tableFileName("word ".repeat(10_000), new Set())).toMatch(/^[a-z-]{1,60}\.xlsx$/);
    expect(tableFileName("ﷺ".repeat(50_000), new Set())).toBe("table.xlsx");
  });

  test("numbers duplicate names", () => {
    expect(tableFileName(null, new Set(["table.xlsx"]))).toBe("table-2.xlsx");
    expect(tableFileName("Prices", new Set(["prices.xlsx", "prices-2.xlsx"]))).toBe("prices-3.xlsx");
  });
});
