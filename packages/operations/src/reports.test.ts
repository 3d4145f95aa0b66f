import { expect, test } from "@jest/globals";
import { writeCsv } from "./reports.ts";

const write = (...cells: (string | number | null)[]) => writeCsv([cells]).toString();

test("a file begins with a byte order mark, and its lines end as RFC 4180 says", () => {
  expect(
    writeCsv([
      ["a", "b"],
      [1, null],
    ]).toString(),
  ).toBe("\uFEFFa,b\r\n1,\r\n");
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])("text that a spreadsheet would run is text: %j", (cell) => {
  expect(write(cell)).toBe(`\uFEFF"'${cell}"\r\n`);
});

test("text that a spreadsheet would run after a separator or a line break of its own is text", () => {
  expect(write("Thanks;=1+1\n@SUM(A1)")).toBe(`\uFEFF"Thanks;'=1+1\n'@SUM(A1)"\r\n`);
  expect(write("\r=1+1")).toBe(`\uFEFF"'\r'=1+1"\r\n`);
  expect(write('x";"=1+1;"')).toBe(`\uFEFF"x"";""'=1+1;"""\r\n`);
  expect(write("\uFF1D1+1")).toBe(`\uFEFF"'\uFF1D1+1"\r\n`);
});

test("numbers stay numbers, and quotes, commas and line breaks stay in their cell", () => {
  expect(write(-5, 'He said "no", twice\nand left')).toBe('\uFEFF-5,"He said ""no"", twice\nand left"\r\n');
  expect(write('","=1+1')).toBe('\uFEFF""",""=1+1"\r\n');
});
