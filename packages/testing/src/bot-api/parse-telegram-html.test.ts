import { describe, expect, test } from "@jest/globals";
import { parseTelegramHtml } from "./parse-telegram-html.ts";
import { RICH_LIMITS, parseRichHtml } from "./parse-rich-html.ts";

describe("parseTelegramHtml reads", () => {
  test.each([
    ["plain text", "1 &lt; 2 &amp;&amp; 3 &gt; 2 &quot;yes&quot;", '1 < 2 && 3 > 2 "yes"', []],
    ["references of numbers", "&#65;&#x42;&#128512;", "AB😀", []],
    ["references that it does not know as text", "&nbsp; & &copy; AT&T", "&nbsp; & &copy; AT&T", []],
    ["a reference without its semicolon", "a &lt b", "a < b", []],
    ["tags in any case", "<B>x</b>", "x", [{ type: "bold", offset: 0, length: 1 }]],
    ["places in UTF-16 units", "😀<i>é</i>", "😀é", [{ type: "italic", offset: 2, length: 1 }]],
    [
      "what stands in each other, the outer one first",
      "<b>a<i>b</i></b>",
      "ab",
      [
        { type: "bold", offset: 0, length: 2 },
        { type: "italic", offset: 1, length: 1 },
      ],
    ],
    [
      "the language of a block of code",
      '<pre><code class="language-js">f()</code></pre>',
      "f()",
      [{ type: "pre", offset: 0, length: 3, language: "js" }],
    ],
    [
      "no language of code in a line",
      '<code class="language-js">f()</code>',
      "f()",
      [{ type: "code", offset: 0, length: 3 }],
    ],
    [
      "links, whose address may have references",
      '<a href="https://example.com/?a=1&amp;b=&quot;">x</a>',
      "x",
      [{ type: "text_link", offset: 0, length: 1, url: 'https://example.com/?a=1&b="' }],
    ],
    [
      "a link without an address, which is its text",
      "<a>example.com</a>",
      "example.com",
      [{ type: "text_link", offset: 0, length: 11, url: "example.com" }],
    ],
    [
      "an attribute without a value",
      "<blockquote expandable>x</blockquote>",
      "x",
      [{ type: "expandable_blockquote", offset: 0, length: 1 }],
    ],
    ["an end tag without a name", "<b>x</>", "x", [{ type: "bold", offset: 0, length: 1 }]],
    [
      "a spoiler in both ways",
      '<span class="tg-spoiler">x</span><tg-spoiler>y</tg-spoiler>',
      "xy",
      [
        { type: "spoiler", offset: 0, length: 1 },
        { type: "spoiler", offset: 1, length: 1 },
      ],
    ],
    ["nothing of an empty tag", "a<b></b>", "a", []],
  ])("%s", (_, html, text, entities) => {
    expect(parseTelegramHtml(html)).toEqual({ text, entities });
  });
});

describe("parseTelegramHtml refuses, in Telegram's words,", () => {
  test.each([
    ["a tag that it does not know", "é<h1>x</h1>", 'Unsupported start tag "h1" at byte offset 2'],
    ["a tag that closes itself", "a<br/>", 'Unsupported start tag "br/" at byte offset 1'],
    ["a bare smaller-than", "1 <2", "Unclosed start tag at byte offset 2"],
    ["a bare smaller-than before a space", "1 < 2 > 1", 'Unsupported start tag "" at byte offset 2'],
    ["a tag that is not closed", "<b>x", 'Can\'t find end tag corresponding to start tag "b"'],
    ["a tag that is cut off", "<b", "Unclosed start tag at byte offset 0"],
    ["an address that is cut off", '<a href="https://x', "Unclosed start tag at byte offset 0"],
    ["an end without a begin", "x</b>", "Unexpected end tag at byte offset 1"],
    ["ends in another order", "<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ["an end that is cut off", "<b>x</b", "Unclosed end tag at byte offset 4"],
    ["a span of another class", '<span class="x">y</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ["an address without quotes", "<a href=https://x>y</a>", "Unexpected end of name token at byte offset 8"],
    ["a slash before the end", "<b />x</b>", 'Empty attribute name in the tag "b" at byte offset 0'],
    ["half of a pair", "<b>&#xd83d;</b>", "Text contains invalid Unicode characters"],
  ])("%s", (_, html, message) => {
    expect(() => parseTelegramHtml(html)).toThrow(message);
  });
});

describe("parseRichHtml", () => {
  test("reads the text and the tags of what Telegram shows as an example", () => {
    const html =
      '<h2>Prices &mdash; &#x32;026</h2><p>See <a href="https://example.com">here</a><br>now</p><hr/>' +
      '<ol start="3"><li>one<ul><li>deep</li></ul></li></ol><pre><code class="language-js">a &lt; b</code></pre>' +
      '<table bordered><tr><th align="left">A</th></tr><tr><td align="right"><b>1</b></td></tr></table>';
    const { text, tags } = parseRichHtml(html);
    expect(text).toBe("Prices — 2026See herenowonedeepa < bA1");
    expect(tags.filter((tag) => tag === "li" || tag === "tr")).toHaveLength(4);
  });

  const cells = (count: number) => `<table><tr>${"<td>x</td>".repeat(count)}</tr></table>`;
  const nested = (levels: number) => `${"<blockquote>".repeat(levels)}x${"</blockquote>".repeat(levels)}`;

  test.each([
    ["columns", cells(RICH_LIMITS.columns), cells(RICH_LIMITS.columns + 1), "Too many columns"],
    ["levels", nested(RICH_LIMITS.levels), nested(RICH_LIMITS.levels + 1), "Too many levels"],
    ["blocks", "<p>x</p>".repeat(RICH_LIMITS.blocks), "<p>x</p>".repeat(RICH_LIMITS.blocks + 1), "Too many blocks"],
    ["characters", "😀".repeat(RICH_LIMITS.characters), "😀".repeat(RICH_LIMITS.characters + 1), "Text is too long"],
  ])("takes as many %s as Telegram does, and no more", (_, enough, tooMuch, message) => {
    expect(() => parseRichHtml(enough)).not.toThrow();
    expect(() => parseRichHtml(tooMuch)).toThrow(message);
  });

  test.each([
    ["an unknown tag", "<div>x</div>", 'Unsupported start tag "div" at byte offset 0'],
    ["a bare smaller-than", "é 1 < 2", "Unclosed start tag at byte offset 5"],
    ["a wrong order", "<b><i>x</b></i>", "Unmatched end tag at byte offset 7"],
    ["a missing end", "<p>x", 'Can\'t find end tag corresponding to start tag "p"'],
    ["an item outside of a list", "<p><li>x</li></p>", 'Misplaced start tag "li"'],
    ["a cell outside of a row", "<table><td>x</td></table>", 'Misplaced start tag "td"'],
    ["a block in a cell", "<table><tr><td><p>x</p></td></tr></table>", 'Block tag "p" in a table cell'],
    ["a tag that cannot close itself", "<p/>", 'Tag "p" cannot close itself'],
  ])("refuses %s", (_, html, message) => {
    expect(() => parseRichHtml(html)).toThrow(message);
  });
});
