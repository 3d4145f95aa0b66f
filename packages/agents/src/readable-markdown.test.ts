import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { cpuOfRun } from "@svc/testing";
import { maskMarkup, showParts } from "./readable-markdown.ts";

const read = (text: string) => showParts(maskMarkup(text));

describe("a text of Markdown as readers see it", () => {
  test.each([
    [
      "a soft break is a space",
      "A sweeper finds\nmessages that nobody\nworks on.",
      "A sweeper finds messages that nobody works on.",
    ],
    ["in a list item, without its indentation", "- One goes\n  on here.\n- Two.", "- One goes on here.\n- Two."],
    ["in a quotation, without its mark", "> One goes\n> on here.", "> One goes on here."],
    ["with the line ends of Windows", "One\r\ntwo.", "One two."],
    ["and between Han characters nothing", "消息不会\n丢失。", "消息不会丢失。"],
    ["one space where the line ends with one", "One \ntwo.", "One two."],
  ])("%s", (_, text, shown) => {
    expect(read(text)).toBe(shown);
  });

  test.each([
    ["a hard break by two spaces", "One  \ntwo."],
    ["a hard break by a backslash", "One\\\ntwo."],
    ["a hard break by an element", "One<br>\ntwo."],
    ["paragraphs", "One.\n\nTwo."],
    ["a list", "Do this:\n- one\n- two\n\n1. first\n2. second"],
    ["a table", "| a | b |\n|---|---|\n| c | d |"],
    ["a table without bars around", "Plan | Price\n---|---\nBasic | 5\nTeam | 20"],
    ["a code fence", "```sh\none\ntwo [a][b]\n```"],
    ["indented code", "Text.\n\n    one\n    two"],
    ["preformatted text", "<pre>one\ntwo</pre>"],
    ["link definitions", "[a]: https://a.example\n[b]: https://b.example"],
    ["a code span", 'Use `list[i][j]` and `<a id="x"></a>`.'],
    ["indices and numbers of notes", "See a[i][j] and [1][2]."],
    ["a link to an address", "See [the guide](https://a.example)."],
    ["a link that has its definition", "See [the guide][G].\n\n[g]: https://a.example"],
    ["an anchor with a target", '<a href="https://a.example">a</a>'],
  ])("keeps %s", (_, text) => {
    expect(read(text)).toBe(text);
  });

  test.each([
    ['<a id="rotate"></a>Keys rotate.', "Keys rotate."],
    ["<a name='rotate'/>Keys rotate.", "Keys rotate."],
    ['<a id="rotate">Keys</a> rotate.', "Keys rotate."],
    ["See [example][session-parse-example].", "See example."],
    ["See ![a picture][logo] and [guide][].", "See a picture and guide."],
    ["| a | see [b][c] |\n|---|---|", "| a | see b |\n|---|---|"],
  ])("%s becomes %s", (text, shown) => {
    expect(read(text)).toBe(shown);
  });

  test("keeps every offset and every letter of other texts", () => {
    const line = fc.oneof(
      fc.constantFrom("", "one two", "- item", "> quoted", "| a | b |", "|---|---|", "a | b", "```", "    x", "[a]: b"),
      fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll("\0", "")),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const text = lines.join("\n");
        expect(maskMarkup(text)).toHaveLength(text.length);
      }),
    );
  });

  test("takes time in proportion to its length", () => {
    for (const part of ["[a][", "<a id=", "`", "> ", "[", "\n", "- a\n  "]) {
      expect(maskMarkup(part.repeat(20_000))).toHaveLength(part.length * 20_000);
    }
  });

  test.each(["`", "`` ` ", "[a](", "**a *b "])("takes twice as long for twice as many %j", (part) => {
    const textOf = (chars: number) => `a ${part.repeat(chars / part.length)}`;
    const [half, all] = [textOf(50_000), textOf(100_000)];
    expect(cpuOfRun(() => maskMarkup(all))).toBeLessThan(3 * cpuOfRun(() => maskMarkup(half)) + 50);
  });
});
