import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { excerptOf, maskMarkup, showParts, sourceUrl } from "./readable-markdown.ts";

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
});

describe("an excerpt of a quote", () => {
  test.each([
    ["| Group Rate Limit | ✓ | | | |", "Group Rate Limit · ✓"],
    ["| Plan | Price |\n|---|---|\n| Team | **20** |", "Plan · Price Team · 20"],
    ["- **One** goes\n  on.\n- Two `x`.", "One goes on. Two x."],
    ["## Keys\n\nSee [the guide](https://a.example).", "Keys See the guide."],
    ["> said\n> so", "said so"],
  ])("%j is %j", (quote, excerpt) => {
    expect(excerptOf(quote, true)).toBe(excerpt);
  });

  test("of plain text keeps its signs in one line", () => {
    expect(excerptOf("2 * 3\n= 6 | seven", false)).toBe("2 * 3 = 6 | seven");
  });

  test("is short", () => {
    expect(excerptOf("word ".repeat(500), true).length).toBeLessThanOrEqual(301);
  });
});

const PAGE = "https://example.com/guide";

describe("sourceUrl", () => {
  test.each([
    ["a short sentence whole", "Backups run at night.", "Backups%20run%20at%20night."],
    [
      "a long one by its first and last words",
      "Backups of all databases run each night at three and are kept for a month on another machine.",
      "Backups%20of%20all%20databases%20run%20each,for%20a%20month%20on%20another%20machine.",
    ],
    ["several lines by the first and the last", "One two.\n\nThree four.", "One%20two.,Three%20four."],
    ["what has a meaning in a fragment encoded", "a, b & e-mail (c)", "a%2C%20b%20%26%20e%2Dmail%20%28c%29"],
    ["Markdown as its reader sees it", "- **Open** the [`settings`](https://a.example/b).", "Open%20the%20settings."],
    ["a table by its first cell and its last row", "| Plan | Price |\n|---|---|\n| Pro | 5 |", "Plan,Pro"],
  ])("a quote of a web page is linked to: %s", (_, quote, fragment) => {
    expect(sourceUrl(PAGE, { quote })).toBe(`${PAGE}#:~:text=${fragment}`);
  });

  test("a quote of a paged document is linked to by its page", () => {
    expect(sourceUrl("https://example.com/a.pdf", { quote: "One.", page: 7 })).toBe("https://example.com/a.pdf#page=7");
  });

  test.each([
    ["has a fragment of its own", `${PAGE}#setup`],
    ["is that of a file", "https://example.com/a.docx?v=2"],
    ["is no web address", "file:///a.html"],
    ["is none", "see the handbook"],
  ])("an address that %s stays as it is", (_, url) => {
    expect(sourceUrl(url, { quote: "One.", page: null })).toBe(url);
  });

  test("whatever is quoted, the address is a valid one of the same page", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (quote) => {
        const url = sourceUrl(PAGE, { quote });
        expect(url === PAGE || url.startsWith(`${PAGE}#:~:text=`)).toBe(true);
        expect(url).toMatch(/^[\w\-.~:/#=,%]+$/);
      }),
    );
  });
});
