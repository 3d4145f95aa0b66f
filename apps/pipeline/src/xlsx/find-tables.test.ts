import { describe, expect, test } from "@jest/globals";
import { Lexer } from "marked";
import { findTables, plainText } from "./find-tables.ts";

function read(source: string, above = ""): string {
  const lexer = new Lexer({ gfm: true });
  lexer.blockTokens(above, lexer.tokens);
  return plainText(source, lexer);
}

test.each([
  ["plain", "plain"],
  ["**bold** _it_ ~~gone~~ ***both***", "bold it gone both"],
  ["`a * b`", "a * b"],
  ["`&amp;`", "&amp;"],
  ["\\*not bold\\*", "*not bold*"],
  ["a<br>b<br/>c", "a\nb\nc"],
  ["<b>x</b><sup>2</sup><!-- note -->", "x2"],
  ["Bearer <token> &lt;b&gt;", "Bearer <token> <b>"],
  ["&amp;&nbsp;&euro;&#65;&#x42;&unknown;&#1114112;", "&\u00a0€AB&unknown;&#1114112;"],
  ["snake_case_name", "snake_case_name"],
  ["2 * 3 * 4", "2 * 3 * 4"],
  ["1 < 2 && 3 > 2", "1 < 2 && 3 > 2"],
  ["  spaces  ", "spaces"],
])("shows %j as %j", (source, text) => {
  expect(read(source)).toBe(text);
});

test.each([
  ["[docs](https://example.com/a)", "docs (https://example.com/a)"],
  ["[**docs**](https://example.com?a=1&amp;b=2)", "docs (https://example.com?a=1&b=2)"],
  ["https://example.com/a", "https://example.com/a"],
  ["www.example.com", "www.example.com"],
  ["<https://example.com>", "https://example.com"],
  ["[write us](mailto:a@example.com)", "write us (a@example.com)"],
  ["a@example.com", "a@example.com"],
  ["[part](#part) [file](../file.md)", "part file"],
  ["[x](javascript:alert(1))", "x"],
  ["![logo](https://example.com/l.png)", "logo (https://example.com/l.png)"],
  ["![](https://example.com/l.png)", "https://example.com/l.png"],
])("shows the link %j as %j: its text and where it leads", (source, text) => {
  expect(read(source)).toBe(text);
});

test("resolves reference links of the whole text", () => {
  expect(read("[docs][1]", "[1]: https://example.com\n")).toBe("docs (https://example.com)");
});

test("returns a source with more formatting characters than any real cell unchanged", () => {
  const hostile = "*a ".repeat(16_000);
  expect(read(hostile)).toBe(hostile.trim());
  expect(read("x".repeat(50_000))).toHaveLength(50_000);
});

const LIMITS = { maxTables: 10, maxRows: 1_000, maxColumns: 100 };

function headers(text: string): string[][] {
  return findTables(text, LIMITS).tables.map((table) => table.header);
}

describe("findTables", () => {
  test("finds header, rows and alignment, with escaped pipes and rows of any length", () => {
    const text = "Intro\n\n| a | b \\| c |\n|:--|--:|\n| 1 | `x \\| y` |\n| 2\n| 3 | 4 | 5 |\n\nEnd";
    expect(findTables(text, LIMITS)).toEqual({
      found: 1,
      tables: [
        {
          heading: null,
          header: ["a", "b | c"],
          rows: [["1", "x | y"], ["2"], ["3", "4"]],
          align: ["left", "right"],
          totalRows: 3,
          totalColumns: 2,
        },
      ],
    });
  });

  test.each([
    ["at the top, with carriage returns", "|a|b|\r\n|-|-|\r\n|1|2|\r\n"],
    ["without outer pipes", "a | b\n- | -\n1 | 2\n"],
    ["right after a paragraph", "Text\n|a|b|\n|-|-|\n|1|2|\n"],
    ["in a quote", "> |a|b|\n> |-|-|\n> |1|2|\n"],
    ["in a list", "- Item\n\n  |a|b|\n  |-|-|\n  |1|2|\n"],
    ["in a list in a list in a quote", "> - x\n>   1. y\n>\n>      |a|b|\n>      |-|-|\n>      |1|2|\n"],
    ["in a list with sixteen levels", `${"- ".repeat(16)}|a|b|\n${"  ".repeat(16)}|-|-|\n`],
  ])("finds a table %s", (_where, text) => {
    expect(headers(text)).toEqual([["a", "b"]]);
  });

  test.each([
    ["a code fence", "```\n|a|b|\n|-|-|\n|1|2|\n```"],
    ["a fence that is never closed", "~~~md\n|a|b|\n|-|-|\n"],
    ["a fence in a quote", "> ```\n> |a|b|\n> |-|-|\n> ```"],
    ["indented code", "    |a|b|\n    |-|-|\n"],
    ["a comment", "<!--\n|a|b|\n|-|-|\n-->"],
  ])("finds no table in %s", (_where, text) => {
    expect(headers(text)).toEqual([]);
  });

  test.each(["", "a | b", "---", "a\n---", "|a|b|\n|-|\n", "1 - 2 | 3"])("finds no table in %j", (text) => {
    expect(headers(text)).toEqual([]);
  });

  test("uses the nearest heading above, not one inside a list or quote that has ended", () => {
    const table = "|a|\n|-|\n|1|\n";
    const text = `${table}\n# One\n\n## **Two** [x](https://e.com)\n\n${table}\n- # Inner\n\n> ### Quote\n>\n> ${table.replaceAll("\n", "\n> ")}\n\n${table}\nThree\n=====\n${table}`;
    const names = findTables(text, LIMITS).tables.map((table) => table.heading);
    expect(names).toEqual([null, "Two x (https://e.com)", "Quote", "Two x (https://e.com)", "Three"]);
  });

  test("reads at most the requested tables, rows and columns, and returns the totals", () => {
    const wide = `${"|h".repeat(150)}|\n${"|-".repeat(150)}|\n${`${"|1".repeat(150)}|\n`.repeat(3)}`;
    const { tables, found } = findTables(`${wide}\n${wide}\n${wide}`, { maxTables: 2, maxRows: 2, maxColumns: 4 });
    expect(found).toBe(3);
    expect(tables).toHaveLength(2);
    expect(tables[0]).toMatchObject({
      header: ["h", "h", "h", "h"],
      rows: [
        ["1", "1", "1", "1"],
        ["1", "1", "1", "1"],
      ],
      totalRows: 3,
      totalColumns: 150,
    });
    expect(tables[0]?.align).toHaveLength(4);
  });

  test("does not pad thousands of short rows to 10,000 columns", () => {
    const text = `${"|a".repeat(10_000)}\n${"|-".repeat(10_000)}\n${"|1\n".repeat(5_000)}`;
    const [table] = findTables(text, LIMITS).tables;
    expect(table).toMatchObject({ totalRows: 5_000, totalColumns: 10_000 });
    expect(table?.header).toHaveLength(100);
    expect(table?.rows.flat()).toHaveLength(1_000);
  });

  const entangled = Array.from({ length: 300 }, (_, depth) => `${">".repeat(300 - depth)} a`).join("\n");
  test.each([
    ["quotes", ">".repeat(50_000)],
    ["lists", `${"- ".repeat(25_000)}x`],
    ["lists and quotes", "> - 1. ".repeat(7_000)],
    ["quotes that go on after nested ones", entangled],
    ["quotes that go on after code", ">>>```\n[a]: b\n>".repeat(5_000)],
  ])("gives up on endlessly nested %s with a RangeError instead of reading for minutes", (_what, text) => {
    expect(() => findTables(`${text}\n\n|a|\n|-|\n`, LIMITS)).toThrow(RangeError);
  });
});
