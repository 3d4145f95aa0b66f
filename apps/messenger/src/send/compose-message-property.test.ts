import { describe, expect, test } from "@jest/globals";
import { parseRichHtml, parseTelegramHtml, testLog } from "@svc/testing";
import fc from "fast-check";
import type { Nodes } from "mdast";
import { cleanText, isBlank } from "./clean-text.ts";
import { composeMessage } from "./compose-message.ts";
import { parseMarkdown } from "./parse-markdown.ts";
import { renderHtml } from "./render-html.ts";
import { renderRichHtml } from "./render-rich-html.ts";
import { splitText } from "./split-text.ts";
import { styleMarkdown } from "./style-markdown.ts";

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

/** What opens, closes and breaks things, in any order. */
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
/** Some are longer than one message, with a block that is. */
const long = fc.nat({ max: 6_000 }).map((length) => "Lorem ipsum, 日本 👩‍👩‍👧‍👦 ".repeat(300).slice(0, length));
const answer = fc
  .array(fc.oneof({ weight: 40, arbitrary: block }, { weight: 1, arbitrary: long }), { minLength: 1, maxLength: 4 })
  .map((blocks) => blocks.join("\n\n"));

const squeeze = (text: string) => text.replaceAll(/\s+/g, "");

/** The words of a document, each stretch of them as it stands there. */
function wordsOf(node: Nodes): string[] {
  if (node.type === "html" && /^<br\s*\/?>$/i.test(node.value)) return [];
  if (node.type === "text" || node.type === "inlineCode" || node.type === "code" || node.type === "html")
    return [node.value];
  if (node.type === "image" || node.type === "imageReference") return [node.alt ?? ""];
  if ("children" in node) return node.children.flatMap(wordsOf);
  return [];
}

describe("any Markdown answer", () => {
  test("becomes HTML that Telegram reads, in parts that it takes, with every word in it", () => {
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

  test("becomes the same parts each time, so that those which were sent can be counted", () => {
    fc.assert(
      fc.property(answer, (text) => {
        const [once, again] = [composeMessage(text, true, log), composeMessage(text, true, log)];
        expect(JSON.stringify(again)).toBe(JSON.stringify(once));
      }),
      { numRuns: 50 },
    );
  });
});

test("a text that is no Markdown arrives as it is written, in parts", () => {
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
