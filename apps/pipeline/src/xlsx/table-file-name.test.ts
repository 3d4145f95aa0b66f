import { expect, test } from "@jest/globals";
import { tableFileName } from "./table-file-name.ts";

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
