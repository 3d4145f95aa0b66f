import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { cpuOfRun } from "@svc/testing";
import { sourceOf, sourceUrl } from "./source-of.ts";

const PAGE = "https://example.com/guide";

const PASSAGE = {
  chunkId: "c",
  documentId: "d",
  title: "Guide",
  url: PAGE,
  headingPath: [],
  text: "",
  markdown: true,
  score: 1,
};

const source = (quote: string) => sourceOf({ ...PASSAGE, text: quote }, quote);
const excerptOf = (quote: string) => source(quote).excerpt ?? "";
const linkTo = (quote: string) => source(quote).url ?? "";

describe("an excerpt of a quote", () => {
  test.each([
    ["| Group Rate Limit | ✓ | | | |", "Group Rate Limit · ✓"],
    ["| Plan | Price |\n|---|---|\n| Team | **20** |", "Plan · Price Team · 20"],
    ["- **One** goes\n  on.\n- Two `x`.", "One goes on. Two x."],
    ["## Keys\n\nSee [the guide](https://a.example).", "Keys See the guide."],
    ["> said\n> so", "said so"],
  ])("%j is %j", (quote, excerpt) => {
    expect(excerptOf(quote)).toBe(excerpt);
  });

  test.each([
    ["`[see [1]](https://x.example/y_(z))`", "[see [1]](https://x.example/y_(z))"],
    ["See [see [1]](https://x.example/y_(z)).", "See see [1]."],
    ["[a](<https://x.example/a b> 'A title') and [b](/c \"d (e)\").", "a and b."],
    ["See [the guide][G] and [G].\n\n[g]: https://a.example", "See the guide and G."],
    ["Lists a[i][j], [1][2] and [x].", "Lists a[i][j], [1][2] and [x]."],
    ["[![Alt [1]](a_(b).png)](https://a.example) text", "Alt [1] text"],
    ["<https://a.example/b_c_d> and <me@a.example>", "https://a.example/b_c_d and me@a.example"],
    ["[**bold** and `code]`](https://a.example)", "bold and code]"],
    ["An \\[escaped\\](link) &lt;b&gt; \\*", "An [escaped](link) <b> *"],
    ["| a \\| b | `c \\| d` |\n|---|---|", "a | b · c | d"],
    ["Plan | Price\n---|---\n**Basic** | 5", "Plan · Price Basic · 5"],
  ])("shows the words of links and references: %j is %j", (quote, excerpt) => {
    expect(excerptOf(quote)).toBe(excerpt);
  });

  test.each([
    ["5 * 3 * 2 is 30", "5 * 3 * 2 is 30"],
    ["2*x and 10 ** 2", "2*x and 10 ** 2"],
    ["Call `f(**kwargs)` or ``a`*b``.", "Call f(**kwargs) or a`*b."],
    ["From 5 EUR*, see below.\n\n\\* without VAT", "From 5 EUR*, see below. * without VAT"],
    ["```py\n# a\nf(*args, **kwargs)\n```", "# a f(*args, **kwargs)"],
    ["Set max_connections, _not_ __init__ or snake__case.", "Set max_connections, not init or snake__case."],
    ["*a **b** c* ***d*** **e*f*g** ~~h~~ ~5", "a b c d efg h ~5"],
    ["**Acme  \nOne** Street\\\n2<br>\n*three  \n* four*", "Acme One Street 2 *three four*"],
    ["> **Acme  \n> One**\n\n**open  \n\nend**", "Acme One **open end**"],
    ["**重要。**文字 **“Note”**s", "重要。文字 “Note”s"],
  ])("leaves out emphasis only: %j is %j", (quote, excerpt) => {
    expect(excerptOf(quote)).toBe(excerpt);
  });

  test("is read in its passage", () => {
    const text = "**Backups run. They [last][a].**\n\n```\nf(**x)\n[b][a]\n```\n\n[a]: https://a.example";
    const excerptIn = (quote: string) => sourceOf({ ...PASSAGE, text }, quote).excerpt;
    expect(excerptIn("They [last][a].**")).toBe("They last.");
    expect(excerptIn("f(**x)\n[b][a]")).toBe("f(**x) [b][a]");
  });

  test("of plain text keeps its signs in one line", () => {
    const text = "2 * 3\n= 6 | seven";
    expect(sourceOf({ ...PASSAGE, text, markdown: false }, text).excerpt).toBe("2 * 3 = 6 | seven");
  });

  test("is short", () => {
    expect(excerptOf("word ".repeat(500)).length).toBeLessThanOrEqual(301);
  });
});

test.each(["`", "[", "[](", "[a](<b ", "**a* _b", "<a ", "](x)", "| `a "])(
  "a source takes twice as long for twice as many %j",
  (part) => {
    const textOf = (chars: number) => `a ${part.repeat(chars / part.length)}`;
    const [half, all] = [textOf(50_000), textOf(100_000)];
    expect(cpuOfRun(() => source(all))).toBeLessThan(3 * cpuOfRun(() => source(half)) + 100);
  },
);

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
    ["a link with brackets by its words", "See [see [1]](https://x.example/y_(z)).", "See%20see%20%5B1%5D."],
    ["numbers of notes with their brackets", "See [1] and a[i].", "See%20%5B1%5D%20and%20a%5Bi%5D."],
    ["asterisks that are text as such", "5 * 3 and `**kwargs`", "5%20%2A%203%20and%20%2A%2Akwargs"],
    ["text around an image by both parts", "One two ![three](a.png) four.", "One%20two,four."],
    ["a table by its first cell and its last row", "| Plan | Price |\n|---|---|\n| Pro | 5 |", "Plan,Pro"],
  ])("a quote of a web page is linked to: %s", (_, quote, fragment) => {
    expect(linkTo(quote)).toBe(`${PAGE}#:~:text=${fragment}`);
  });

  test("a quote of a paged document is linked to by its page", () => {
    expect(sourceUrl("https://example.com/a.pdf", { lines: [["One."]], page: 7 })).toBe(
      "https://example.com/a.pdf#page=7",
    );
  });

  test.each([
    ["has a fragment of its own", `${PAGE}#setup`],
    ["is that of a file", "https://example.com/a.docx?v=2"],
    ["is no web address", "file:///a.html"],
    ["is none", "see the handbook"],
  ])("an address that %s stays as it is", (_, url) => {
    expect(sourceUrl(url, { lines: [["One."]], page: null })).toBe(url);
  });

  test("whatever is quoted, the address is a valid one of the same page", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (quote) => {
        const url = linkTo(quote);
        expect(url === PAGE || url.startsWith(`${PAGE}#:~:text=`)).toBe(true);
        expect(url).toMatch(/^[\w\-.~:/#=,%]+$/);
      }),
    );
  });
});
