import { expect, test } from "@jest/globals";
import { sheetName } from "./sheet-name.ts";

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
