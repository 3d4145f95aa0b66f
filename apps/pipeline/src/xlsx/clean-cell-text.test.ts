import { expect, test } from "@jest/globals";
import { cleanCellText, escapeCellText, guardFormulaStart } from "./clean-cell-text.ts";

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
