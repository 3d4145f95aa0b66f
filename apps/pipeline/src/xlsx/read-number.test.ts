import { describe, expect, test } from "@jest/globals";
import { findDecimalMark, readNumber } from "./read-number.ts";

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
