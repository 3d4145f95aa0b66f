import { describe, expect, test } from "@jest/globals";
import { cleanText, parseMarkdown } from "./styled-text.ts";
import { renderHtml, renderRichHtml } from "./render-html.ts";
import { styleMarkdown } from "./style-markdown.ts";

function document(markdown: string) {
  const parsed = parseMarkdown(cleanText(markdown));
  if (parsed === null) throw new Error("not read as Markdown");
  return parsed;
}

const htmlOf = (markdown: string) => renderHtml(styleMarkdown(document(markdown)));
const richOf = (markdown: string) => renderRichHtml(document(markdown));

describe("Markdown in the HTML of an ordinary message", () => {
  test.each([
    ["bold, italic, struck", "**a** *b* ~~c~~ ***d***", "<b>a</b> <i>b</i> <s>c</s> <b><i>d</i></b>"],
    ["what HTML would read as its own", "1 < 2 & <b>x</b> &lt;", "1 &lt; 2 &amp; &lt;b&gt;x&lt;/b&gt; &lt;"],
    ["headings", "# One *two*\nthree", "<b>One <i>two</i></b>\n\nthree"],
    ["line ends as they are written", "a\nb\\\nc<br>d", "a\nb\nc\nd"],
    ["code holds nothing and is in nothing", "**a `b` c**", "<b>a </b><code>b</code><b> c</b>"],
    ["fences", '```js "><x\nif (a<b)\n```', '<pre><code class="language-js">if (a&lt;b)</code></pre>'],
    ["a fence without a language", "```\na\n\nb\n```", "<pre>a\n\nb</pre>"],
    ["fences that follow each other stay two", "```\na\n```\n```\nb\n```", "<pre>a</pre>\n\n<pre>b</pre>"],
    ["lists", "- a\n- b\n  1. c\n  2. d", "• a\n• b\n    1. c\n    2. d"],
    ["numbers where a list begins with another", "7. a\n8. b", "7. a\n8. b"],
    ["tasks", "- [ ] a\n- [x] b", "☐ a\n☑ b"],
    ["items of several blocks", "- a\n  ```\n  x\n    y\n  ```\n- b", "• a\n<pre>x\n  y</pre>\n• b"],
    ["quotations, which do not nest", "> a\n>\n> > b\n\nc", "<blockquote>a\n\nb</blockquote>\n\nc"],
    ["rules", "a\n\n---\n\nb", "a\n\n———\n\nb"],
    ["links", '[a **b**](http://c.d/?e=1&f="g")', '<a href="http://c.d/?e=1&amp;f=%22g%22">a <b>b</b></a>'],
    [
      "mail addresses and phones, which Telegram finds itself",
      "a@b.cd [e](mailto:f@g.hi) [j](tel:+4930)",
      "a@b.cd e (f@g.hi) j (+4930)",
    ],
    ["links by reference", "[a][1]\n\n[1]: https://b.c/d", '<a href="https://b.c/d">a</a>'],
    ["links that lead nowhere", "[a](/b) [c](javascript:d) [e](http://)", "a (/b) c (javascript:d) e (http://)"],
    ["links without words", "[](https://a.b/c)", '<a href="https://a.b/c">https://a.b/c</a>'],
    ["pictures as links", "![a](https://b.c/d.png)", '<a href="https://b.c/d.png">a</a>'],
    ["footnotes", "a[^n]\n\n[^n]: b", "a[n]\n\n[n] b"],
    ["nothing", " \n\n ", ""],
  ])("%s", (_, markdown, html) => {
    expect(htmlOf(markdown)).toBe(html);
  });

  test("a narrow table is columns, aligned, with wide characters counted twice", () => {
    expect(htmlOf("| Fruit | Price |\n|:-:|--:|\n| 林檎 | 1 |\n| `kiwi` | 10 |")).toBe(
      "<pre>Fruit | Price\n------+------\n林檎  |     1\nkiwi  |    10</pre>",
    );
  });

  test.each([
    ["wide", "x".repeat(60), `<b>A: </b>${"x".repeat(60)}`],
    ["with links", "[x](https://y.z/)", '<b>A: </b><a href="https://y.z/">x</a>'],
    ["with several lines in a cell", "x<br>y", "<b>A: </b>x\ny"],
  ])("a table %s is shown row by row", (_, cell, shown) => {
    expect(htmlOf(`| A | B |\n|---|---|\n| ${cell} | b |\n| c | |`)).toBe(
      `${shown}\n<b>B: </b>b\n\n<b>A: </b>c\n<b>B: </b>–`,
    );
  });
});

describe("Markdown in the HTML of a rich message", () => {
  test.each([
    ["headings and lists", "## a\n- b\n- c\n  1. d", "<h2>a</h2><ul><li>b</li><li>c<ol><li>d</li></ol></li></ul>"],
    ["an item of several paragraphs", "3. a\n\n   b", '<ol start="3"><li><p>a</p><p>b</p></li></ol>'],
    ["tasks", "- [x] a", "<ul><li>☑ a</li></ul>"],
    [
      "tables",
      "| a | b |\n|---|--:|\n| **c** | d<br>e |",
      '<table bordered><tr><th>a</th><th align="right">b</th></tr><tr><td><b>c</b></td><td align="right">d<br>e</td></tr></table>',
    ],
    ["what HTML would read as its own", "# a<b&c", "<h1>a&lt;b&amp;c</h1>"],
    ["a rule", "a\nb\n\n---", "<p>a<br>b</p><hr/>"],
    ["links that lead nowhere", "# [a](/b)", "<h1>a (/b)</h1>"],
  ])("%s", (_, markdown, html) => {
    expect(richOf(markdown)).toBe(html);
  });

  test.each([
    ["what an ordinary message shows as well", "a **b** `c`\n\n> d"],
    ["more characters than it may have", `# a\n\n${"&".repeat(10_000)}`],
    ["more blocks than it may have", "- a\n".repeat(500)],
    ["more columns than it may have", `${"|a".repeat(21)}|\n${"|-".repeat(21)}|`],
    ["more levels than it may have", `# a\n\n${"> ".repeat(20)}b`],
  ])("is none for %s", (_, markdown) => {
    expect(richOf(markdown)).toBeNull();
  });
});

test.each([
  ["longer than any answer", "a ".repeat(20_000)],
  ["nested deeper than anybody writes", `${">".repeat(5_000)} a`],
  ["nested deeper over many lines", Array.from({ length: 150 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n")],
])("a text is not read as Markdown when it is %s", (_, text) => {
  expect(parseMarkdown(text)).toBeNull();
});
