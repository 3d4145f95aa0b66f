import { expect, test } from "@jest/globals";
import { plainSnippet } from "./ticket-items.ts";

test.each([
  ["Where is my parcel?", "Where is my parcel?"],
  [
    "# Returns\n\nYou have **30 days**, *counted* from ~~yesterday~~ `delivery`.",
    "Returns You have 30 days, counted from yesterday delivery.",
  ],
  ["- one\n- two\n* [x] three", "one two three"],
  ["> quoted\n\nanswer", "quoted answer"],
  ['See [the guide](https://shop.example/guide "Guide") and [more][ref].', "See the guide and more."],
  [
    '<a id="rotate"></a>Rotate <b>logs</b><!-- hidden --> with <https://shop.example>',
    "Rotate logs with https://shop.example",
  ],
  ["| Size | Price |\n|---|---:|\n| S | 4 |", "Size Price S 4"],
  ["```js\nlet a = 1;\n```", "let a = 1;"],
  ["2 * 3 * 4, snake_case_name, a < b > c, 5 \\* 6", "2 * 3 * 4, snake_case_name, a < b > c, 5 * 6"],
  ["safe\u202eevil\u0000 \u2066text", "safeevil text"],
  ["", ""],
])("%j reads as %j", (text, plain) => {
  expect(plainSnippet(text)).toBe(plain);
});

test("is one line of at most 140 characters", () => {
  const snippet = plainSnippet("long line\n".repeat(60));
  expect(Array.from(snippet)).toHaveLength(140);
  expect(snippet).toMatch(/^long line long line .*…$/);
});

test.each(["*", "_", "[", "<a ", "`", "|", "\\", "- ", "<!--", "~~", "!["])(
  "reads 600 characters of %j at once",
  (part) => {
    const text = part.repeat(Math.ceil(600 / part.length)).slice(0, 600);
    expect(plainSnippet(text).length).toBeLessThanOrEqual(140);
  },
);
