import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Lexer } from "marked";
import type { Token } from "marked";
import { formatCell } from "./read-xlsx.ts";
import { escapeInline, escapeMarkdown, formatTable, splitTables } from "./format-table.ts";

describe("splitTables", () => {
  const rows = (count: number) => Array.from({ length: count }, (_, at) => `| Plan ${at} | ${at} € |`);

  test("every part of a table that is too long for one passage has its header, and no row is lost", () => {
    const table = ["| Plan | Price |", "|---|---|", ...rows(600)].join("\n");
    const tables = splitTables(`Before.\n\n${table}\n\nAfter.`).split("\n\n");
    expect(tables.length).toBeGreaterThan(5);
    expect(tables.slice(1, -1).every((part) => part.startsWith("| Plan | Price |\n|---|---|\n| Plan "))).toBe(true);
    expect(tables.slice(1, -1).flatMap((part) => part.split("\n").slice(2))).toEqual(rows(600));
  });

  test("shorter tables and code stay as they are", () => {
    const short = ["| Plan | Price |", "|---|---|", ...rows(20)].join("\n");
    const code = ["```", "| Plan | Price |", "|---|---|", ...rows(600), "```"].join("\n");
    expect(splitTables(`${short}\n\n${code}`)).toBe(`${short}\n\n${code}`);
  });
});

test("a table has no empty rows and columns, and its cells stay on their line and in their column", () => {
  const rows = [
    ["", "A", " ", "B"],
    ["", "", "", ""],
    ["", "x\ny", "", "a|b"],
    ["", "`c\\|d`", "", ""],
  ];
  expect(formatTable(rows)).toBe("| A | B |\n| --- | --- |\n| x y | a\\|b |\n| `c\\|d` |  |");
  expect(formatTable([["", " "]])).toBe("");
});

test.each([
  ["See https://e.example/_layouts/15/~x*y, _now_", "See https://e.example/_layouts/15/~x*y, \\_now\\_"],
  ["~5-~10 minutes", "~5-\\~10 minutes"],
])("a text is shown as it is written, with its URLs: %j", (text, markdown) => {
  expect(escapeInline(text)).toBe(markdown);
});

test("a long line of dashes is escaped only if it is one of dashes to its end, in time proportional to it", () => {
  const dashes = "-".repeat(100_000);
  expect(escapeMarkdown(`${dashes}x`)).toBe(`${dashes}x`);
  expect(escapeMarkdown(`a\n${dashes} \t\nb`)).toBe(`a\n\\${dashes} \t\nb`);
});

test("Markdown shows any text as it is written", () => {
  const signs = ["*", "**", "_", "~", "`", "[", "](", ")", "!", "# ", "- ", "1. ", "> ", "===", "---", "&amp;", " <b>"];
  const piece = fc.constantFrom(...signs, "a", " b ", "\\*", " https://e.example/_a_/*b ");
  const shown = (tokens: readonly Token[]): string =>
    tokens
      .map((token) => {
        if ("tokens" in token && token.tokens !== undefined && ["paragraph", "text"].includes(token.type))
          return shown(token.tokens);
        return ["text", "escape", "link"].includes(token.type) && "text" in token ? token.text : `<${token.type}>`;
      })
      .join("");
  const property = fc.property(fc.array(piece, { minLength: 1, maxLength: 10 }), (pieces) => {
    const text = pieces.join("").replaceAll(/ +/g, " ").trim();
    expect(shown(new Lexer({ gfm: true }).lex(escapeMarkdown(text)))).toBe(text);
    expect(shown(Lexer.lexInline(`x ${escapeInline(text)}`, { gfm: true }))).toBe(`x ${text}`);
  });
  fc.assert(property, { numRuns: 300 });
});

test("a long table is cut into several, each under the header", () => {
  const rows = Array.from({ length: 200 }, (_, row) => [`name ${row}`, "x".repeat(50)]);
  const tables = formatTable([["Name", "Text"], ...rows]).split("\n\n");
  expect(tables.length).toBeGreaterThan(2);
  expect(tables.filter((table) => !table.startsWith("| Name | Text |\n| --- | --- |\n| name "))).toEqual([]);
  expect(tables.filter((table) => table.length > 4_000)).toEqual([]);
  expect(tables.flatMap((table) => table.split("\n").slice(2))).toHaveLength(200);
});

test("what is too sparse to be a table becomes a line for each row", () => {
  const rows = Array.from({ length: 3_000 }, (_, row) => new Map([[row, `v${row}`]]));
  expect(formatTable(rows).split("\n").slice(0, 2)).toEqual(["v0", "v1"]);
});

test("numbers are shown as Excel shows them, the same in every country", () => {
  const shown = [
    formatCell(0.1 + 0.2, 0, { is1904: false }),
    formatCell(45_000.5, 22, { is1904: false }),
    formatCell(0.256, 10, { is1904: false }),
    formatCell(-1234.5, "#,##0.00;[Red](#,##0.00)", { is1904: false }),
    formatCell(5, ";;;", { is1904: false }),
    formatCell(5, "no [ format", { is1904: false }),
  ];
  expect(shown).toEqual(["0.3", "2023-03-15 12:00", "25.60%", "(1,234.50)", "5", "5"]);
});
