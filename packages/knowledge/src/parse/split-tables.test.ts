import { expect, test } from "@jest/globals";
import { splitTables } from "./split-tables.ts";

const rows = (count: number) => Array.from({ length: count }, (_, at) => `| Plan ${at} | ${at} € |`);

test("every part of a table that is too long for one passage has its header, and no row is lost", () => {
  const table = ["| Plan | Price |", "|---|---|", ...rows(600)].join("\n");
  const tables = splitTables(`Before.\n\n${table}\n\nAfter.`).split("\n\n");
  expect(tables.length).toBeGreaterThan(5);
  expect(tables.slice(1, -1).every((part) => part.startsWith("| Plan | Price |\n|---|---|\n| Plan "))).toBe(true);
  expect(tables.slice(1, -1).flatMap((part) => part.split("\n").slice(2))).toEqual(rows(600));
});

test("shorter tables and code stay as they are", () => {
  const short = ["| Plan | Price |", "|---|---|", ...rows(20)].join("\n");
  const code = ["```", "| Plan | Price |", "|---|---|", ...rows(600), "```"].join("\n");
  expect(splitTables(`${short}\n\n${code}`)).toBe(`${short}\n\n${code}`);
});
