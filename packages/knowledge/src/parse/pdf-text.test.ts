import { describe, expect, test } from "@jest/globals";
import { createLineBuilder } from "./pdf-lines.ts";
import type { PdfLine } from "./pdf-lines.ts";
import { pdfText } from "./pdf-text.ts";

/** A line of running text, so many lines down a page; `look` changes what is unusual about it. */
const line = (text: string, down: number, check: Partial<PdfLine> = {}): PdfLine => ({
  text,
  cells: [text],
  left: 72,
  right: 72 + text.length * 5,
  y: 700 - down * 12,
  size: 10,
  ...check,
});

const FULL = "This line of running text is as wide as its column, up to the end";

describe("lines", () => {
  const item = (str: string, x: number, y: number, width: number, more = {}) => ({
    str,
    transform: [10, 0, 0, 10, x, y],
    width,
    hasEOL: false,
    ...more,
  });

  test("are put together by height, with spaces in gaps and cells in wide ones", () => {
    const lines = createLineBuilder();
    for (const piece of [
      item("Foot", 0, 100, 20),
      item("note", 20, 100, 20),
      item("1", 40, 104, 3),
      item("then", 46, 100, 20),
      item("cell", 200, 100, 20),
      item("next", 0, 88, 20, { hasEOL: true }),
      item("M¨oller", 0, 76, 30),
    ]) {
      lines.add(piece);
    }
    expect(lines.end().map(({ cells }) => cells)).toEqual([["Footnote1 then", "cell"], ["next"], ["Möller"]]);
  });
});

describe("text of a PDF", () => {
  test("joins lines and mends words that were hyphenated", () => {
    const lines = [line(`${FULL} of the hand-`, 0), line(`book. ${FULL}`, 1), line("and here.", 2), line("Then", 5)];
    expect(pdfText([lines]).text).toBe(`${FULL} of the handbook. ${FULL} and here.\n\nThen`);
  });

  test("begins a paragraph where the next word would have had room", () => {
    expect(pdfText([[line(FULL, 0), line("Name", 1), line("Address", 2), line(FULL, 3)]]).text).toBe(
      `${FULL} Name\n\nAddress\n\n${FULL}`,
    );
  });

  test("drops numbers, chapter titles and contents of pages, and says where each begins", () => {
    const words = "zero one two three four five six seven eight nine".split(" ");
    const pages = words.map((word, page) => [
      line(`Chapter ${page < 5 ? "one" : "two"}`, -3),
      line(`Entry . . . . . . . . . ${page}`, 0),
      line(`Page ${word} speaks of something else.`, 1),
      line(`It ends with ${word}.`, 2),
      line(`${page + 1}`, 50),
    ]);
    pages.splice(5, 0, []);
    const { text, pageStarts } = pdfText(pages);
    expect(text).not.toMatch(/Chapter|Entry|^\d+$/m);
    expect(pageStarts).toHaveLength(11);
    expect(pageStarts[0]).toBe(0);
    expect(text.slice(pageStarts[3]).startsWith("Page three speaks")).toBe(true);
    expect(pageStarts[5]).toBe(pageStarts[6]);
    expect(text.slice(pageStarts[10]).startsWith("Page nine speaks")).toBe(true);
  });

  test("drops the page number of a single page only where it clearly is one", () => {
    const page = (last: string) => pdfText([[line(`${FULL}.`, 0), line("Another one.", 1), line(last, 50)]]).text;
    expect(page("1/1")).not.toContain("1/1");
    expect(page("Page 1 of 1")).not.toContain("Page");
    expect(page("42")).toContain("42");
    expect(page("24/7")).toContain("24/7");
  });

  test("takes for headings what is larger than running text, unless most of it is", () => {
    const large = { size: 20 };
    const { text, headline } = pdfText([
      [line("1. Title", 0, large), line("Part", 3, { size: 14 }), ...[5, 6, 7, 8].map((down) => line(FULL, down))],
    ]);
    expect(text.split("\n\n").slice(0, 2)).toEqual(["# 1. Title", "## Part"]);
    expect(headline).toBe("1. Title");
    expect(pdfText([[line(FULL, 0, large), line("small", 4)]]).text).toBe(`${FULL}\n\nsmall`);
  });
});
