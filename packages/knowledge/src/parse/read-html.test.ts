import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Lexer } from "marked";
import type { Token } from "marked";
import { readHtml } from "./read-html.ts";
import { READ_LIMITS } from "./read-limits.ts";

const textOf = (html: string, url?: string) =>
  readHtml(html, { name: "page.html", ...(url === undefined ? {} : { url }) }, READ_LIMITS).text;

describe("the main part of a page", () => {
  test("leaves out navigation, page header and footer, consent banners, forms, scripts and hidden elements", () => {
    const page = `<html><head><title>Returns | Shop</title></head><body>
      <a class="skip-link" href="#main">Skip</a><header><a href="/">Shop</a></header><nav>Menu</nav>
      <div id="cookie-banner" role="dialog">We use cookies <button>OK</button></div>
      <div id="main-wrap"><h1>Returns</h1><p>Within 30 days.</p><script>no()</script><style>p{}</style><!-- no -->
      <p hidden>no</p><p aria-hidden="true">no</p><p style="display: none">no</p><form><label>Mail <input></label></form>
      <aside>Related</aside><svg><text>no</text></svg></div><footer>© Shop</footer></body></html>`;
    expect(textOf(page)).toBe("# Returns\n\nWithin 30 days.");
  });

  test("is the main element, or the one article, with the headline that stands outside", () => {
    const page = (body: string) =>
      `<title>Returns | Shop</title><body><h1>Returns</h1><div>Elsewhere</div>${body}</body>`;
    const text = "You can return any item. ".repeat(30).trim();
    expect(textOf(page(`<main><p>${text}</p></main>`))).toBe(`# Returns\n\n${text}`);
    expect(textOf(page(`<article><p>${text}</p></article>`))).toBe(`# Returns\n\n${text}`);
  });

  test("keeps notes, folded answers of questions, and a page in one form", () => {
    const page = `<body><form><h1>FAQ</h1><article><aside class="note"><p>Mind this.</p></aside>
      <h2><button aria-expanded="false" aria-controls="a1">How long?</button></h2><div id="a1" role="region" hidden>Five days.</div>
      <details><summary>More</summary><p>Ten at most.</p></details></article></form></body>`;
    expect(textOf(page)).toBe("# FAQ\n\nMind this.\n\n## How long?\n\nFive days.\n\n**More**\n\nTen at most.");
  });

  test("leaves out lists that only lead to places of the page", () => {
    const list = '<ul><li><a href="#a">First</a><li><a href="#b">Second</a><li><a href="#c">Third</a></ul>';
    expect(textOf(`<h2>Table of contents</h2>${list}<h2 id="a">First</h2><p>Text</p>`)).toBe("## First\n\nText");
  });

  test("leaves out the links to other chapters that DocBook writes above and below a page", () => {
    const links = "<table><tr><td>Back</td><td>Next</td></tr><tr><td>1. Before</td><td>3. After</td></tr></table>";
    expect(
      textOf(`<div class="navheader">${links}</div><h1>2. Kernel</h1><p>Text</p><div class="navfooter">${links}</div>`),
    ).toBe("# 2. Kernel\n\nText");
  });

  test("is never empty when a reader sees text", () => {
    expect(textOf("<body><nav><a href='https://a.example/'>Only</a> navigation</nav></body>")).toBe(
      "[Only](https://a.example/) navigation",
    );
    expect(textOf("just text")).toBe("just text");
  });
});

describe("Markdown of a page", () => {
  test("has links made absolute; those that run something, or lead nowhere, are text", () => {
    const page = `<base href="/docs/"><p><a href="a.html">a</a> <a href="//b.example/c">b</a> <a href="javascript:x()">c</a>
      <a href=" java\nscript:x()">d</a> <a href="#here">e</a> <a href="data:text/html,x">f</a> <a href="mailto:a@b.c">g</a></p>
      <h2>Title <a class="headerlink" href="#title">¶</a></h2>`;
    expect(textOf(page, "https://a.example/x/y")).toBe(
      "[a](https://a.example/docs/a.html) [b](https://b.example/c) c d e f [g](mailto:a@b.c)\n\n## Title",
    );
    expect(textOf("<p><a href='other.html'>other</a></p>")).toBe("other");
  });

  test("has nested lists, code with its language, quotes and lines", () => {
    const page = `<ol start="3"><li>Open<ul><li>On Mac</li><li>On Windows</li></ul></li><li><p>Run</p>
      <div class="highlight-python"><pre><code><span>def</span> f(a):<br>    return a | "\`\`\`"</code></pre></div></li></ol>
      <blockquote><p>One</p><p>Two</p></blockquote><p>First<br>second</p><hr>`;
    expect(textOf(page)).toBe(
      [
        "3. Open\n   - On Mac\n   - On Windows\n4. Run",
        '   ```python\n   def f(a):\n       return a | "```"\n   ```',
        "> One\n>\n> Two",
        "First\nsecond",
        "---",
      ].join("\n\n"),
    );
  });

  test("has tables with a header, caption, escaped pipes, and values that span rows in each row", () => {
    const page = `<table><caption>Prices</caption><tr><th>Plan<th>Price<th>Notes</tr>
      <tr><td rowspan="2">Pro<td>$5 | month<td><ul><li>one<li>two</ul></tr><tr><td><code>a|b</code><td>x<br>y</tr>
      <tr><td colspan="2">Total<td>7</tr></table>`;
    expect(textOf(page)).toBe(
      "Prices\n\n| Plan | Price | Notes |\n| --- | --- | --- |\n| Pro | $5 \\| month | one; two |\n| Pro | `a\\|b` | x y |\n| Total |  | 7 |",
    );
  });

  test("has the contents of tables that only lay out", () => {
    const page = `<table><tr><td><h2>Left</h2><td><table><tr><th>A<th>B<tr><td>1<td>2</table></table>`;
    expect(textOf(page)).toBe("## Left\n\n| A | B |\n| --- | --- |\n| 1 | 2 |");
  });

  test("shows URLs as they are, in text and as the text of a link", () => {
    const url = "https://e.example/_a/b_";
    expect(textOf(`<p>See ${url} or <a href="${url}">${url}</a></p>`)).toBe(
      `See ${url} or [https://e.example/\\_a/b\\_](${url})`,
    );
  });

  const href = "https://x.example/?a=1&b=2";
  const linked = (html: string) => textOf(`<p>${html.replaceAll("HREF", href)}</p>`);

  test.each([
    ["See https://e.example/_a_/b", String.raw`See https://e.example/\_a\_/b`],
    ["https://e.example/[x](javascript:y)", String.raw`https://e.example/\[x\]\(javascript:y)`],
    ["a](javascript:y)", String.raw`a\]\(javascript:y)`],
    [
      "<b>https://e.example/a_b_</b>, <code>https://e.example/_a_</code>",
      String.raw`**https://e.example/a\_b\_**, ${"`https://e.example/_a_`"}`,
    ],
    [`<img src="a_b_.png" alt="[a](b) https://e.example/_a_">`, String.raw`\[a\]\(b) https://e.example/\_a\_`],
    [href.replace("&", "&amp;"), href],
    ["Read [1] and max_connections", "Read [1] and max_connections"],
    ["[1]", "[1]"],
  ])("escapes in the text of a link only what has a meaning there: %s", (html, text) => {
    expect(linked(`<a href="HREF">${html}</a> or https://e.example/[a]`)).toBe(
      `[${text}](${href}) or https://e.example/[a]`,
    );
  });

  test("shows any text of a link as it is written, with the target of that link", () => {
    const signs = [
      "*",
      "_",
      "~",
      "`",
      "[",
      "]",
      "](",
      ")",
      "[x](javascript:y)",
      "!",
      "\\",
      "&amp;",
      " <b>",
      "a",
      " b ",
    ];
    const piece = fc.constantFrom(...signs, " https://e.example/", "https://e.example/_a_/*b ", "[1]");
    const shown = (token: Token): string =>
      ["text", "escape"].includes(token.type) && "text" in token ? token.text : `<${token.type}>`;
    const property = fc.property(fc.array(piece, { minLength: 1, maxLength: 10 }), (pieces) => {
      const text = `x${pieces.join("")}`.replaceAll(/ +/g, " ").trim();
      const html = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
      const [token, ...others] = Lexer.lexInline(linked(`<a href="HREF">${html}</a>`), { gfm: true });
      expect(others).toEqual([]);
      expect(token).toMatchObject({ type: "link", href });
      const { tokens = [] } = token as { tokens?: Token[] };
      expect(tokens.map(shown).join("")).toBe(text);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("shows text as it is, with no more backslashes than that takes", () => {
    const page = `<p>max_connections is 2 * 3, *not* &lt;b&gt; or &amp;amp; [a](b) C:\\temp</p><p>1. no list</p><p># no heading</p>
      <h2>1. Heading</h2>`;
    expect(textOf(page)).toBe(
      "max_connections is 2 * 3, \\*not\\* \\<b> or \\&amp; \\[a](b) C:\\temp\n\n1\\. no list\n\n\\# no heading\n\n## 1. Heading",
    );
  });
});

test("a title is that of the page, else of its preview, else its headline", () => {
  const titleOf = (html: string) => readHtml(html, { name: "a.html" }, READ_LIMITS).title;
  expect(titleOf("<title> A\n title </title><h1>Other</h1>")).toBe("A title");
  expect(titleOf('<title></title><meta property="og:title" content="Shared"><h1>Other</h1>')).toBe("Shared");
  expect(titleOf("<h1>Head <b>line</b></h1>")).toBe("Head line");
  expect(titleOf("<p>Text</p>")).toBeNull();
});
