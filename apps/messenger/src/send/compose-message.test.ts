import { describe, expect, test } from "@jest/globals";
import { cpuOfRun, parseRichHtml, parseTelegramHtml, testLog } from "@svc/testing";
import fc from "fast-check";
import type { Nodes } from "mdast";
import { composeMessage, splitText } from "./compose-message.ts";
import { cleanText, isBlank, parseMarkdown, plainText } from "./styled-text.ts";
import { renderHtml, renderRichHtml } from "./render-html.ts";
import { styleMarkdown } from "./style-markdown.ts";

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

  test("and closes and reopens its fence, quotation and formats", () => {
    expect(htmlParts(`\`\`\`sql\n${"select 1;\n".repeat(6)}\`\`\``)).toEqual([
      `<pre><code class="language-sql">${"select 1;\n".repeat(4).trimEnd()}</code></pre>`,
      `<pre><code class="language-sql">${"select 1;\n".repeat(2).trimEnd()}</code></pre>`,
    ]);
    expect(htmlParts(`> **[${"aaaa bbbb ".repeat(6).trimEnd()}](https://c.d/)**`)).toEqual([
      `<blockquote><a href="https://c.d/"><b>${"aaaa bbbb ".repeat(4).trimEnd()}</b></a></blockquote>`,
      `<blockquote><a href="https://c.d/"><b>${"aaaa bbbb ".repeat(2).trimEnd()}</b></a></blockquote>`,
    ]);
  });

  test("before it has more formats than Telegram shows", () => {
    const parts = htmlParts("**a** b ".repeat(200), { maxChars: 4_096, maxFormats: 90 });
    expect(parts).toHaveLength(3);
    expect(parts.map((part) => part.match(/<b>/g)?.length)).toEqual([90, 90, 20]);
  });

  test("never within a grapheme cluster", () => {
    const family = "👩‍👩‍👧‍👦";
    const parts = textParts(family.repeat(500), { maxChars: 4_096, maxFormats: 90 });
    expect(parts.join("")).toBe(family.repeat(500));
    for (const part of parts) expect(part.length % family.length).toBe(0);
  });

  test("within a grapheme cluster longer than a message, but never within a surrogate pair", () => {
    const text = `${"👩‍".repeat(40)}👩`;
    const parts = textParts(text, { maxChars: 31, maxFormats: 90 });
    expect(parts.join("")).toBe(text);
    for (const part of parts) expect(part.isWellFormed()).toBe(true);
  });

  test("without blank parts", () => {
    expect(textParts(`${" \n".repeat(3_000)}${"a".repeat(40)}\n\n\u2800${"\n".repeat(90)}`)).toEqual(["a".repeat(40)]);
    expect(textParts(" \n\u200B\u200D")).toEqual([]);
  });
});

const RUNS = process.env["SVC_SOAK"] === "1" ? 2_000 : 300;
const log = testLog();

const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("price", "Straße", "große", "日本語の文", "مرحبا", "a<b", "x & y", "&amp;", "1.5"),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 12, unit: "grapheme" }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "👩‍👩‍👧‍👦",
      "🇩🇪🇫🇷",
      "e\u0301\u0301",
      "\u202Eevil",
      "\uD83D",
      "\u0000",
      "<script>",
      "</b>",
      "<br>",
    ),
  },
);

/** Markup that opens, closes and breaks formatting, in any order. */
const mark = fc.constantFrom(
  ...'* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ![ ]( < > & | \\ # ## > - + 1. 7) [ ] [x] --- :-: |-|-| || $ $$ == ^ [^1] [^1]: http://a.b/?c=d&e="f" javascript:alert(1) tg://user?id=1 mailto:a@b.c'.split(
    " ",
  ),
  "\n",
  "\n\n",
  "    ",
  "\t",
  "  \n",
);

const soup = fc.array(fc.oneof(word, mark, fc.constant(" ")), { maxLength: 40 }).map((parts) => parts.join(""));

const phrase = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
const inline = fc.oneof(
  phrase,
  phrase.map((text) => `**${text}**`),
  phrase.map((text) => `*${text}*`),
  phrase.map((text) => `~~${text}~~`),
  phrase.map((text) => `\`${text}\``),
  phrase.map((text) => `[${text}](https://example.com/${text.length}?a=1&b=2)`),
  phrase.map((text) => `**bold [${text}](/relative) *both***`),
);
const line = fc.array(inline, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(" "));
const block = fc.oneof(
  line,
  line.map((text) => `## ${text}`),
  fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.map((text) => `- ${text}`).join("\n")),
  fc
    .array(line, { minLength: 1, maxLength: 5 })
    .map((lines) => lines.map((text, at) => `${at + 3}. ${text}\n   - [x] in`).join("\n")),
  fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.map((text) => `> ${text}`).join("\n")),
  fc.array(phrase, { minLength: 1, maxLength: 40 }).map((lines) => `\`\`\`ts "><b>\n${lines.join("\n")}\n\`\`\``),
  fc
    .array(fc.array(inline, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 12 })
    .map((rows) => ["| A | B | C |", "|:--|:-:|--:|", ...rows.map((cells) => `| ${cells.join(" | ")} |`)].join("\n")),
  fc.constant("---"),
  soup,
);
/** Some texts are longer than one message, with a block that is as well. */
const long = fc.nat({ max: 6_000 }).map((length) => "Lorem ipsum, 日本 👩‍👩‍👧‍👦 ".repeat(300).slice(0, length));
const answer = fc
  .array(fc.oneof({ weight: 40, arbitrary: block }, { weight: 1, arbitrary: long }), { minLength: 1, maxLength: 4 })
  .map((blocks) => blocks.join("\n\n"));

const squeeze = (text: string) => text.replaceAll(/\s+/g, "");

/** Returns the words of a document, one string per text node. */
function wordsOf(node: Nodes): string[] {
  if (node.type === "html" && /^<br\s*\/?>$/i.test(node.value)) return [];
  if (node.type === "text" || node.type === "inlineCode" || node.type === "code" || node.type === "html")
    return [node.value];
  if (node.type === "image" || node.type === "imageReference") return [node.alt ?? ""];
  if ("children" in node) return node.children.flatMap(wordsOf);
  return [];
}

describe("any Markdown answer", () => {
  test("becomes valid HTML for Telegram, in parts within its limits, with every word", () => {
    fc.assert(
      fc.property(answer, (text) => {
        const document = parseMarkdown(cleanText(text));
        if (document === null) return;
        const parts = splitText(styleMarkdown(document));
        for (const part of parts) {
          const read = parseTelegramHtml(renderHtml(part));
          expect(read.text).toBe(part.text);
          expect(read.text.length).toBeLessThanOrEqual(4_096);
          expect(read.entities.length).toBeLessThanOrEqual(100);
          expect(isBlank(part.text)).toBe(false);
        }
        const sent = squeeze(parts.map((part) => part.text).join("\n"));
        const words = wordsOf(document.root)
          .filter((each) => !isBlank(each))
          .map(squeeze);
        expect(words.filter((each) => !sent.includes(each))).toEqual([]);
        const richHtml = renderRichHtml(document);
        const rich = richHtml === null ? sent : squeeze(parseRichHtml(richHtml).text);
        expect(words.filter((each) => !rich.includes(each))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("becomes the same parts each time, so that sent parts can be counted", () => {
    fc.assert(
      fc.property(answer, (text) => {
        const [once, again] = [composeMessage(text, true, log), composeMessage(text, true, log)];
        expect(JSON.stringify(again)).toBe(JSON.stringify(once));
      }),
      { numRuns: 50 },
    );
  });
});

test("sends a plain text unchanged, in parts", () => {
  fc.assert(
    fc.property(answer, (text) => {
      const { rich, parts } = composeMessage(text, false, log);
      expect(rich).toBeNull();
      expect(squeeze(parts.map((part) => part.text).join(""))).toBe(isBlank(text) ? "" : squeeze(cleanText(text)));
      for (const part of parts) expect(part.text.length).toBeLessThanOrEqual(4_096);
    }),
    { numRuns: 300 },
  );
});

test.each(["<!--", "<?", "<![CDATA[", "<!x "])("takes twice as long for twice as many %j", (part) => {
  const textOf = (chars: number) => `a ${part.repeat(chars / part.length)}`;
  for (const chars of [32_000, 100_000]) {
    const [half, all] = [textOf(chars / 2), textOf(chars)];
    const limit = 3 * cpuOfRun(() => composeMessage(half, true, log)) + 100;
    expect(cpuOfRun(() => composeMessage(all, true, log))).toBeLessThan(limit);
    expect(composeMessage(all, true, log).parts[0]?.text).toBe(splitText(plainText(all))[0]?.text);
  }
});

test("HTML comments are shown as they are written, beside other Markdown", () => {
  const { parts } = composeMessage("<!-- note -->\n\n**a** <!-- b --> c", true, log);
  expect(parts.map((part) => part.text)).toEqual(["<!-- note -->\n\na <!-- b --> c"]);
});
