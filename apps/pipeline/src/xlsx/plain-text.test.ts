import { expect, test } from "@jest/globals";
import { Lexer } from "marked";
import { plainText } from "./plain-text.ts";

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
