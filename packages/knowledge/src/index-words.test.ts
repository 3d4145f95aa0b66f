import { describe, expect, test } from "@jest/globals";
import { POSTING_UNITS, bodyCountOf, headingCountOf, titleCountOf, unpackWords } from "@svc/store";
import { asIndexed, countChunks, createTableHeaderFinder } from "./index-words.ts";
import { chunkDocument } from "./chunk-document.ts";

const table = (name: string, rows: number): string =>
  [
    `| ${name} | price |`,
    "| --- | ---: |",
    ...Array.from({ length: rows }, (_, row) => `| ${name} number ${row} | ${row} |`),
  ].join("\n");

const headersOf = (text: string) => {
  const find = createTableHeaderFinder();
  return chunkDocument({ text, mime: "text/markdown" }).chunks.map((chunk) => find(chunk));
};

test("each passage of a long table but the first goes on with its header", () => {
  const headers = headersOf(`# Parts\n\n${table("bolt", 1_000)}`);
  expect(headers.length).toBeGreaterThan(5);
  expect(headers.slice(0, 2)).toEqual(["", "| bolt | price |"]);
  expect(new Set(headers.slice(1))).toEqual(new Set(["| bolt | price |"]));
});

test("a table that is whole, and what stands behind it, goes on with nothing", () => {
  expect(headersOf(`# Parts\n\n${table("bolt", 5)}\n\nText.\n\n# Other\n\n| no header |\n`)).toEqual(["", ""]);
});

test("under another heading another table begins", () => {
  const text = `# Bolts\n\n${table("bolt", 1_000)}\n\n# Nuts\n\n${table("nut", 1_000)}`;
  const headers = new Set(headersOf(text));
  expect(headers).toEqual(new Set(["", "| bolt | price |", "| nut | price |"]));
});

/** Counts of title, headings and body of each term, with stems as given. */
const count = async (
  chunk: { text: string; headingPath: string[] },
  title: string,
  stems: Record<string, string> = {},
  language = "en",
) => {
  const indexed = asIndexed(
    await countChunks([{ ...chunk, startOffset: 0, endOffset: chunk.text.length }], { title, language }),
  );
  const { terms, units } = await indexed.post(async (words) => words.map((word) => stems[word] ?? word));
  const fields = terms.flatMap(unpackWords).map((term, position) => {
    const counts = units[position * POSTING_UNITS + 2] ?? 0;
    return [term, [titleCountOf(counts), headingCountOf(counts), bodyCountOf(counts)]];
  });
  return { fields: Object.fromEntries(fields) as Record<string, number[]>, indexed };
};

describe("countChunks", () => {
  test("counts each word by the field that it stands in", async () => {
    const { fields } = await count(
      { text: "Backup daily. Backup offsite.", headingPath: ["Guide", "Backup"] },
      "Manual",
    );
    expect(fields).toEqual({
      manual: [1, 0, 0],
      guide: [0, 1, 0],
      backup: [0, 1, 2],
      daily: [0, 0, 1],
      offsite: [0, 0, 1],
    });
  });

  test("leaves stop words of the body out, and keeps those of title and headings", async () => {
    const { fields, indexed } = await count({ text: "It is the default.", headingPath: ["Who are we?"] }, "All of it");
    expect(Object.keys(fields)).toEqual(["all", "of", "it", "who", "are", "we", "default"]);
    expect(indexed.chunks.map(({ termCount }) => termCount)).toEqual([1]);
  });

  test("a heading that is the title counts once", async () => {
    const { fields } = await count({ text: "x", headingPath: ["Backup", "Daily"] }, "Backup");
    expect(fields["backup"]).toEqual([1, 0, 0]);
  });

  test("forms with one stem are counted together", async () => {
    const stems = { backups: "backup", backup: "backup" };
    const { fields } = await count({ text: "Backups of a backup", headingPath: [] }, "Backup", stems);
    expect(fields).toEqual({ backup: [1, 0, 2] });
  });

  test("a word with accents is found by whoever leaves them out, whatever the stemmer makes of that", async () => {
    const stems = { configuração: "configur", configuracao: "configuraca" };
    const { fields } = await count({ text: "configuração", headingPath: [] }, "x", stems, "pt");
    expect(Object.keys(fields).toSorted()).toEqual(["configur", "configuraca", "x"]);
  });

  test("more of a word than a posting can hold counts as the most", async () => {
    const headingPath = ["word ".repeat(20)];
    const { fields } = await count({ text: "word ".repeat(1_000), headingPath }, "word ".repeat(30));
    expect(fields["word"]).toEqual([15, 15, 255]);
  });

  test("says on which page each passage begins; nothing where there are no pages", async () => {
    const chunk = (startOffset: number) => ({ text: "x", headingPath: [], startOffset, endOffset: startOffset + 1 });
    const pagesOf = async (pageStarts?: number[]) =>
      (
        await countChunks([chunk(0), chunk(99), chunk(100), chunk(350)], { title: "", language: "en", pageStarts })
      ).chunks.map(({ page }) => page);
    expect(await pagesOf([0, 100, 200, 300])).toEqual([1, 1, 2, 4]);
    expect(await pagesOf([5])).toEqual([1, 1, 1, 1]);
    expect(await pagesOf()).toEqual([null, null, null, null]);
  });
});
