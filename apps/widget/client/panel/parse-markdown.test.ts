import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { textOf, type MarkdownNode, parseMarkdown } from "./parse-markdown.ts";

const SAFE = /^(?:https?:\/\/|mailto:|tel:)/i;
const ALLOWED = new Set("p h3 em strong del code pre ul ol li blockquote a table tr th td hr".split(" "));

/** Formats nodes for tests: `strong(text)`; a link with its URL in brackets. */
function short(nodes: MarkdownNode[]): string {
  return nodes
    .map((node) =>
      typeof node === "string"
        ? node
        : `${node.tag}${node.href === undefined ? "" : `[${node.href}]`}${node.start === undefined ? "" : `[${node.start}]`}(${short(node.children)})`,
    )
    .join("");
}
const read = (text: string) => short(parseMarkdown(text));

/** Returns every element in the nodes. */
const elementsOf = (nodes: MarkdownNode[]): Exclude<MarkdownNode, string>[] =>
  nodes.flatMap((node) => (typeof node === "string" ? [] : [node, ...elementsOf(node.children)]));
const depthOf = (nodes: MarkdownNode[]): number =>
  Math.max(0, ...nodes.map((node) => (typeof node === "string" ? 0 : 1 + depthOf(node.children))));

/** Throws if nodes contain anything other than text and plain elements, or are nested too deep to be rendered. */
function expectHarmless(text: string): void {
  const nodes = parseMarkdown(text);
  const elements = elementsOf(nodes);
  expect(depthOf(nodes)).toBeLessThan(64);
  expect(elements.length).toBeLessThanOrEqual(2 * text.length);
  for (const element of elements) {
    const { tag, children: _children, href, start: _start, ...others } = element;
    const isLink = href !== undefined;
    const isHarmless =
      ALLOWED.has(tag) && Object.keys(others).length === 0 && isLink === (tag === "a") && SAFE.test(href ?? "tel:");
    if (!isHarmless) expect(element).toBe("an element that is allowed, with an address that is allowed");
  }
}

describe("parsed Markdown", () => {
  test.each([
    ["a paragraph", "Hello\nworld\n\nagain", "p(Hello\nworld)p(again)"],
    ["emphasis", "*a* _b_ **c** __d__ ***e*** ~~f~~", "p(em(a) em(b) strong(c) strong(d) em(strong(e)) del(f))"],
    ["emphasis in a word only by asterisks", "snake_case_name 5*3*2", "p(snake_case_name 5em(3)2)"],
    ["emphasis beside characters without spaces between words", "**「は」**です", "p(strong(「は」)です)"],
    ["emphasis that is not closed", "**bold *and", "p(**bold *and)"],
    ["emphasis that is closed in part", "***a* b**", "p(strong(em(a) b))"],
    ["asterisks with spaces", "2 * 3 * 4", "p(2 * 3 * 4)"],
    ["a single tilde", "~5 or ~6~", "p(~5 or ~6~)"],
    ["headings", "# One\n## Two\n###### Six\n#no", "h3(One)h3(Two)h3(Six)p(#no)"],
    ["code", "`a *b* <c>` and `` x`y ``", "p(code(a *b* <c>) and code(x`y))"],
    ["backticks that nothing closes", "``a` b", "p(``a` b)"],
    ["fenced code", "```js\nlet *a* = `1`;\n\n  b\n```\nend", "pre(code(let *a* = `1`;\n\n  b))p(end)"],
    ["fenced code that is not closed", "~~~\n<b>", "pre(code(<b>))"],
    ["a list", "- a\n- b\n  more\n* c", "ul(li(a)li(b\nmore))ul(li(c))"],
    ["a numbered list", "3. a\n4. b", "ol[3](li(a)li(b))"],
    ["nested lists", "1. a\n   - b\n     - c\n2. d", "ol[1](li(aul(li(bul(li(c)))))li(d))"],
    ["lists nested by two spaces", "1. a\n  - b\n2. c", "ol[1](li(aul(li(b)))li(c))"],
    ["a list with blank lines", "- a\n\n- b\n\n  c\n\nd", "ul(li(a)li(bp(c)))p(d)"],
    ["code in a list", "- a\n  ```\n  x\n\n\n  y\n  ```\n- b", "ul(li(apre(code(x\n\n\ny)))li(b))"],
    ["a quote", "> a\n> > b\n\nc", "blockquote(p(a)blockquote(p(b)))p(c)"],
    ["a rule", "a\n\n---\n* * *\nb", "p(a)hr()hr()p(b)"],
    ["a link", '[a *b*](https://e.org/x?y=(1) "title")', "p(a[https://e.org/x?y=(1)](a em(b)))"],
    [
      "a link in angle brackets",
      "<https://e.org/> [x](<mailto:a@e.org>)",
      "p(a[https://e.org/](https://e.org/) a[mailto:a@e.org](x))",
    ],
    [
      "a bare address",
      "See (https://e.org/a_(b)), or https://e.org/c_d_e.",
      "p(See (a[https://e.org/a_(b)](https://e.org/a_(b))), or a[https://e.org/c_d_e](https://e.org/c_d_e).)",
    ],
    ["a mail address", "Write to help@e.org.", "p(Write to a[mailto:help@e.org](help@e.org).)"],
    ["a link in a link", "[https://good.org](https://e.org)", "p(a[https://e.org](https://good.org))"],
    ["an image, as a link", "![A cat](https://e.org/c.png)", "p(a[https://e.org/c.png](A cat))"],
    ["a link that nothing closes", "[a](https://e.org and [b", "p([a](a[https://e.org](https://e.org) and [b)"],
    [
      "a table",
      "| A | B |\n|---|:-:|\n| 1 | *2* |\n| x\\|y |\n\nend",
      "table(tr(th(A)th(B))tr(td(1)td(em(2)))tr(td(x|y)))p(end)",
    ],
    ["a table without outer bars", "A | B\n--|--\n1 | ", "table(tr(th(A)th(B))tr(td(1)))"],
    ["escapes", "\\*a\\* \\[b\\](c) \\\\ \\d", "p(*a* [b](c) \\ \\d)"],
    ["line breaks", "a\\\nb<br>c  \nd", "p(a\nb\nc  \nd)"],
    ["entities", "&lt;b&gt; &amp;amp; &nope; &#39;", "p(<b> &amp; &nope; ')"],
    ["line ends of other systems", "a\r\nb\rc", "p(a\nb\nc)"],
    ["nothing", " \n\t\n", ""],
  ])("%s", (_title, text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test("the text of nodes contains no Markdown syntax", () => {
    expect(textOf(parseMarkdown("# Hi\n\n**Dear** [you](https://e.org)\n\n- a\n- b"))).toBe("Hi\nDear you\na\nb\n");
  });
});

describe("hostile Markdown", () => {
  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    '<a href="javascript:alert(1)">x</a>',
    '<math><mi//xlink:href="data:x,<script>alert(4)</script>">',
    "<TABLE><tr><td>HELLO</tr></TABL>",
    "<form id=x tabindex=0><input name=attributes>",
    '<!--<img src="--><img src=x onerror=alert(1)//">',
    "<style><!--</style><img src=x onerror=alert(1)>-->",
  ])("HTML stays text: %s", (text) => {
    expect(textOf(parseMarkdown(text)).trim()).toBe(text);
    expectHarmless(text);
  });

  test.each([
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](\u0001javascript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](blob:abc)",
    "[x](//e.org)",
    "[x](/relative)",
    "[x](#anchor)",
    "[x]( javascript:alert(1) )",
    "[x](<javascript:alert(1)>)",
    "![x](javascript:alert(1))",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[x]: javascript:alert(1)",
  ])("a URL that is not allowed stays text: %s", (text) => {
    expect(elementsOf(parseMarkdown(text)).filter(({ tag }) => tag === "a")).toEqual([]);
    expectHarmless(text);
  });

  const big = (piece: string) => piece.repeat(Math.ceil(100_000 / piece.length)).slice(0, 100_000);
  test.each(
    [
      "*",
      "**",
      "_a ",
      "*a ",
      "a* ",
      "*a **b ",
      "~~a",
      "`",
      "``a`",
      "` a",
      "[",
      "[a](",
      "[a](b",
      "](",
      "![",
      "<",
      "<https:",
      "<https://a",
      "> ",
      ">",
      "- ",
      "-\n",
      "- a\n",
      "  - a\n",
      "1. ",
      "#",
      "# a\n",
      "|",
      "|-",
      "a|b\n-|-\n",
      "\\",
      "&amp",
      "&",
      " ",
      "\n",
      "\t",
      "a@",
      "a.",
      "a@a.",
      "a-",
      "https://",
      "http://a)",
      "https://a](",
      "(",
      ")",
      "***a***",
      "[a](https://b)",
      "[*a](https://b)*",
      "*[a*](",
      "```\n",
      "~~~\n\n",
      "---\n",
      "- - ",
      "- \n\n",
      "> - ",
      "\u202e*a*",
      "😀*",
      "a\n",
      "\r",
    ].map((piece) => [piece]),
  )("100,000 characters of %j are parsed, with little nesting", (piece) => {
    expectHarmless(big(piece));
    expect(textOf(parseMarkdown(`${big(piece)}\n\nx\u00e9y`))).toContain("x\u00e9y");
  });

  /** Unclosed nesting, deeper than a call stack allows. */
  test.each([
    ["quotes", (level: number) => `${"> ".repeat(level)}a`],
    ["lists", (level: number) => Array.from({ length: level }, (_, index) => `${"  ".repeat(index)}- a`).join("\n")],
    ["quotes in lists", (level: number) => `${"- > ".repeat(level)}a`],
    ["emphasis", (level: number) => `${"*a _b ".repeat(level)}${"c_ d* ".repeat(level)}`],
    ["links", (level: number) => `${"[a ".repeat(level)}${"](https://e.org)".repeat(level)}`],
  ])("nested %s are cut off at some depth", (_what, nest) => {
    for (const level of [10, 300]) expectHarmless(nest(level));
  });

  const marks = fc.constantFrom(
    ..."*|**|_|__|~~|`|```|[|](|)|https://a.b|javascript:|<|>|- |1. |# |\n|\n\n|  |    |> |\\|&lt;|&|<br>|---|x|word|é|😀|\u202e|\u0000|\ud800|![".split(
      "|",
    ),
    "|",
    "|-|-|\n",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.array(marks, { maxLength: 80 }).map((all) => all.join("")),
  );

  test("any text only becomes allowed elements with allowed URLs", () => {
    fc.assert(fc.property(texts, expectHarmless), { numRuns: 2_000 });
  });

  test("every letter of any text is preserved", () => {
    // Excluded on purpose: URLs of links with a text, their titles, the language of code, names of entities, <br>.
    const words = fc.array(
      fc.oneof(
        marks.filter((mark) => !/[a-z]/.test(mark.replace(/^(?:x|word)$/, ""))),
        fc.constant("ab"),
      ),
      {
        maxLength: 60,
      },
    );
    const letters = (text: string) => text.replace(/[^\p{L}]/gu, "");
    fc.assert(
      fc.property(words, (all) => {
        const text = all
          .join("")
          .replace(/(`{3,}|~{3,}).*$/gm, "$1")
          .replaceAll("```", "\n```\n");
        expect(letters(textOf(parseMarkdown(text)))).toBe(letters(text));
      }),
      { numRuns: 2_000 },
    );
  });
});
