import { describe, expect, test } from "@jest/globals";
import { cleanText } from "./clean-text.ts";
import { parseMarkdown } from "./parse-markdown.ts";
import { renderHtml } from "./render-html.ts";
import { splitText } from "./split-text.ts";
import { styleMarkdown } from "./style-markdown.ts";
import { plainText } from "./styled-text.ts";

const limits = { maxChars: 40, maxFormats: 90 };

function htmlParts(markdown: string, chosen = limits): string[] {
  const document = parseMarkdown(markdown);
  if (document === null) throw new Error("not read as Markdown");
  return splitText(styleMarkdown(document), chosen).map(renderHtml);
}

const textParts = (text: string, chosen = limits) =>
  splitText(plainText(cleanText(text)), chosen).map((part) => part.text);

describe("a text is split", () => {
  test.each([
    [
      "before a block",
      "one two three four\n\nfive six seven eight nine",
      ["one two three four", "five six seven eight nine"],
    ],
    [
      "but not after a heading",
      "aaaa bbbb cccc dddd\n\n# eeee\n\nffff gggg hhhh iiii",
      ["aaaa bbbb cccc dddd", "<b>eeee</b>\n\nffff gggg hhhh iiii"],
    ],
    [
      "at a line end",
      "- aaaaaaaaaaaaa\n- bbbbbbbbbbbbb\n- ccccccccccccc",
      ["• aaaaaaaaaaaaa\n• bbbbbbbbbbbbb", "• ccccccccccccc"],
    ],
    [
      "after a sentence",
      "Aaaa bbbb cccc dddd eeee. Ffff gggg hhhh iiii",
      ["Aaaa bbbb cccc dddd eeee.", "Ffff gggg hhhh iiii"],
    ],
    [
      "between words",
      "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeee",
      ["aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd", "eeeee"],
    ],
    ["within a word that is longer than a message", "a".repeat(85), ["a".repeat(40), "a".repeat(40), "a".repeat(5)]],
  ])("%s", (_, markdown, parts) => {
    expect(htmlParts(markdown)).toEqual(parts);
  });

  test("with its fence, quotation and formats closed and opened again", () => {
    expect(htmlParts(`\`\`\`sql\n${"select 1;\n".repeat(6)}\`\`\``)).toEqual([
      `<pre><code class="language-sql">${"select 1;\n".repeat(4).trimEnd()}</code></pre>`,
      `<pre><code class="language-sql">${"select 1;\n".repeat(2).trimEnd()}</code></pre>`,
    ]);
    expect(htmlParts(`> **[${"aaaa bbbb ".repeat(6).trimEnd()}](https://c.d/)**`)).toEqual([
      `<blockquote><a href="https://c.d/"><b>${"aaaa bbbb ".repeat(4).trimEnd()}</b></a></blockquote>`,
      `<blockquote><a href="https://c.d/"><b>${"aaaa bbbb ".repeat(2).trimEnd()}</b></a></blockquote>`,
    ]);
  });

  test("where it would have more formats than Telegram shows", () => {
    const parts = htmlParts("**a** b ".repeat(200), { maxChars: 4_096, maxFormats: 90 });
    expect(parts).toHaveLength(3);
    expect(parts.map((part) => part.match(/<b>/g)?.length)).toEqual([90, 90, 20]);
  });

  test("never within what is seen as one character", () => {
    const family = "👩‍👩‍👧‍👦";
    const parts = textParts(family.repeat(500), { maxChars: 4_096, maxFormats: 90 });
    expect(parts.join("")).toBe(family.repeat(500));
    for (const part of parts) expect(part.length % family.length).toBe(0);
  });

  test("within one that is longer than a message, but never within a surrogate pair", () => {
    const text = `${"👩‍".repeat(40)}👩`;
    const parts = textParts(text, { maxChars: 31, maxFormats: 90 });
    expect(parts.join("")).toBe(text);
    for (const part of parts) expect(part.isWellFormed()).toBe(true);
  });

  test("into no part that shows nothing", () => {
    expect(textParts(`${" \n".repeat(3_000)}${"a".repeat(40)}\n\n\u2800${"\n".repeat(90)}`)).toEqual(["a".repeat(40)]);
    expect(textParts(" \n\u200B\u200D")).toEqual([]);
  });
});
