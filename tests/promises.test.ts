import { existsSync, readFileSync } from "node:fs";
import { repositoryPath } from "@svc/testing";
import { expect, test } from "@jest/globals";

const read = (path: string) => readFileSync(repositoryPath(path), "utf8");

/** Returns the text of a section with a second-level heading. */
function sectionOf(text: string, heading: string): string {
  const [, after = ""] = text.split(`\n## ${heading}\n`);
  return after.split("\n## ")[0] ?? "";
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);
/** Returns the first cells of the rows of all tables. */
const rowsOf = (text: string) =>
  all(text, /^\| ([^|]+?) +\|/gm).filter((cell) => !/^(?:-+|Promise|Scenario|What|Command)$/.test(cell));

const promises = read("docs/promises.md");
const stated = {
  "README.md": all(
    sectionOf(read("README.md"), "What it guarantees, and how that is tested"),
    /^- \*\*([^*]+?)\.?\*\*/gm,
  ),
  // The tables of scenarios and of mechanisms, before those of results.
  "docs/reliability.md": rowsOf(read("docs/reliability.md").split("\n| Command ")[0] ?? ""),
  "SECURITY.md": all(sectionOf(read("SECURITY.md"), "How it is protected"), /^\*\*([^*]+)\.\*\*/gm),
};

test.each(Object.entries(stated))(
  "every promise of %s has a row in docs/promises.md, and there are no other rows",
  (page, expected) => {
    expect(expected.length).toBeGreaterThan(5);
    expect(rowsOf(sectionOf(promises, page))).toEqual(expected);
  },
);

test("every row names existing tests", () => {
  const rows = promises.split("\n").filter((line) => /^\| (?!-|Promise)/.test(line));
  const files = rows.map((row) => all(row, /\]\(\.\.\/([^)]+\.test\.ts)\)/g));
  expect(files.filter((named) => named.length === 0)).toEqual([]);
  expect(files.flat().filter((path) => !existsSync(repositoryPath(path)))).toEqual([]);
});
