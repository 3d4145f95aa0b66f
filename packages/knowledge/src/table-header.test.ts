import { expect, test } from "@jest/globals";
import { chunkDocument } from "./chunk-document.ts";
import { createTableHeaderFinder } from "./table-header.ts";

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
