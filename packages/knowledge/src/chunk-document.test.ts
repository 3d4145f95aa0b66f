import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { chunkDocument } from "./chunk-document.ts";

const markdown = (text: string) => chunkDocument({ text, mime: "text/markdown" });

const sentence = (topic: string, words = 14): string => `The ${topic} ${"keeps its word ".repeat(words)}always.`;

const GUIDE = `Before the first heading.

# Guide

Welcome to the guide.

## Install

Download it and start it.

### Windows

Run the installer.

## Update
`;

describe("chunkDocument", () => {
  test("cuts a document by its headings and says under which headings each passage stands", () => {
    expect(markdown(GUIDE).chunks.map(({ headingPath, text }) => [headingPath.join(" > "), text])).toEqual([
      ["", "Before the first heading."],
      ["Guide", "Welcome to the guide."],
      ["Guide > Install", "Download it and start it."],
      ["Guide > Install > Windows", "Run the installer."],
      ["Guide > Update", "## Update"],
    ]);
  });

  test("names the first heading, without the marks of Markdown", () => {
    expect(markdown("intro\n\n## The `svc` **command**, see [here](https://example.com) ##\n\ntext").heading).toBe(
      "The svc command, see here",
    );
    expect(markdown("Underlined\n======\n\ntext").heading).toBe("Underlined");
    expect(markdown("no heading").heading).toBeNull();
  });

  test("finds the first heading behind a byte order mark, and keeps the offsets of the text as it was given", () => {
    const text = "\uFEFF# Title\r\n\r\nFirst line.\r\n";
    const { heading, chunks } = markdown(text);
    expect(heading).toBe("Title");
    expect(chunks.map(({ startOffset, endOffset }) => text.slice(startOffset, endOffset))).toEqual(["First line."]);
  });

  test("a plain text has no headings", () => {
    const text = "# not a heading\n\nbut text";
    const { heading, chunks } = chunkDocument({ text, mime: "text/plain" });
    expect(heading).toBeNull();
    expect(chunks.map((chunk) => chunk.text)).toEqual([text]);
  });

  test("a question in a paragraph of its own is the heading of its answer, in Markdown and in plain text", () => {
    const text =
      "Orders\n\n**(1) It is late. Can I return it?**\n\nYes.\n\nFor 30 days.\n\nWho pays?\n\nHow much?\n\nYou do. Why? It is heavy.";
    const cut = (mime: string) =>
      chunkDocument({ text, mime }).chunks.map((chunk) => [...chunk.headingPath, chunk.text]);
    const answers = [
      ["(1) It is late. Can I return it?", "Yes.\n\nFor 30 days.\n\nWho pays?"],
      ["How much?", "You do. Why? It is heavy."],
    ];
    expect(cut("text/markdown")).toEqual([["Orders"], ...answers]);
    expect(cut("text/plain").slice(2)).toEqual(answers.slice(1));
  });

  test("cuts a long section between sentences into passages of about one length, 1,200 characters at most", () => {
    const text = `# Long\n\n${Array.from({ length: 12 }, (_, index) => sentence(`part ${index}`)).join(" ")}`;
    const { chunks } = markdown(text);
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) {
      expect(chunk.text.length).toBeLessThanOrEqual(1_200);
      expect(chunk.text.length).toBeGreaterThan(500);
      expect(chunk.text).toMatch(/^The part \d+ .*always\.$/s);
    }
  });

  test("cuts between paragraphs rather than within one", () => {
    const paragraph = (topic: string) => `${sentence(topic)} ${sentence(topic)} ${sentence(topic)}`;
    const { chunks } = markdown([paragraph("one"), paragraph("two"), paragraph("three")].join("\n\n"));
    expect(chunks.map(({ text }) => text)).toEqual([paragraph("one"), paragraph("two"), paragraph("three")]);
  });

  test.each([
    ["with bars around", (index: number) => `| row ${index} | ${"x".repeat(40)} |`, "| a | b |\n|---|---|"],
    ["without bars around", (index: number) => `row ${index} | ${"x. Y".repeat(10)}`, "a | b\n---|---"],
  ])("keeps a table %s whole, however long the passage gets", (_, row, header) => {
    const table = [header, ...Array.from({ length: 50 }, (_, index) => row(index))].join("\n");
    const { chunks } = markdown(`${sentence("start", 60)}\n\n${table}\n\n${sentence("end", 60)}`);
    expect(chunks.filter(({ text }) => text.includes(table))).toHaveLength(1);
  });

  test("keeps a code fence whole, blank lines and hashes in it included", () => {
    const code = `\`\`\`sh\n${"# not a heading\n\nnpm start\n".repeat(60)}\`\`\``;
    const { chunks } = markdown(`# Real\n\n${sentence("start", 60)}\n\n${code}`);
    expect(chunks.filter(({ text }) => text.includes(code))).toHaveLength(1);
    expect(chunks.every(({ headingPath }) => headingPath.join() === "Real")).toBe(true);
  });

  test("every passage is what stands at its offsets, in order, and together they hold every word but the headings'", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "",
        "# One",
        "### Three",
        "---",
        "Title\n=====",
        "- item",
        "1. first",
        "> quoted",
        "```",
        "| a | b |",
      ),
      fc.constantFrom(
        "|---|---|",
        "a | b",
        "Some text. More text!",
        "\u{1F600} smile",
        "x".repeat(1_500),
        "word ".repeat(400),
      ),
      fc.string({ unit: "binary", maxLength: 20 }),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 40 }),
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("text/plain", "text/markdown"),
        (lines, newline, mime) => {
          const text = lines.join(newline);
          const { chunks } = chunkDocument({ text, mime });
          let covered = 0;
          let left = "";
          for (const chunk of chunks) {
            expect(chunk.text).toBe(text.slice(chunk.startOffset, chunk.endOffset));
            expect(chunk.text.trim()).not.toBe("");
            expect(chunk.startOffset).toBeGreaterThanOrEqual(covered);
            left += text.slice(covered, chunk.startOffset);
            covered = chunk.endOffset;
          }
          left += text.slice(covered);
          // What no passage holds is no word, or a heading's, which is in the path of the passages under it.
          const headings = chunks.map(({ headingPath }) => headingPath.join("\n")).join("\n");
          const words = (left.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, 50));
          expect(words.filter((word) => mime === "text/plain" || !headings.includes(word))).toEqual([]);
        },
      ),
    );
  });

  test.each([
    ["hashes", "#"],
    ["opening brackets", "["],
    ["backticks", "`"],
    ["bars", "|"],
    ["quotation marks", "> "],
    ["headings", "# a\n"],
    ["list markers", "- "],
    ["full stops", "."],
    ["letters without a space", "a"],
    ["spaces and hashes", "# [a](b "],
  ])("gets through half a megabyte of %s", (_, unit) => {
    const text = unit.repeat(500_000 / unit.length);
    const { chunks } = markdown(text);
    expect(chunks.every((chunk) => chunk.text === text.slice(chunk.startOffset, chunk.endOffset))).toBe(true);
    expect(chunks.every((chunk) => chunk.text.length <= 8_000)).toBe(true);
  });
});
