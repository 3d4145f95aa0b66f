import { describe, expect, test } from "@jest/globals";
import { RICH_LIMITS, parseRichHtml } from "./parse-rich-html.ts";

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
