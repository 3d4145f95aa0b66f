import { describe, expect, test } from "@jest/globals";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import en from "./en.json" with { type: "json" };

const SOURCES = join(import.meta.dirname, "..");
/** Folders whose parts are shown without any other page's having been opened. */
const FIRST = ["api", "app", "inbox", "sign-in", "ticket", "ui"];

describe("the texts that are there at once", () => {
  test("are all that the inbox, its tickets and what is around every page use", () => {
    const later = new Set(Object.keys(en.pages));
    const beginnings = [...later].map((key) => key.slice(0, key.indexOf(".") + 1));
    const misplaced = FIRST.flatMap((folder) =>
      readdirSync(join(SOURCES, folder)).flatMap((name) => {
        const source = readFileSync(join(SOURCES, folder, name), "utf8");
        const keys = [...source.matchAll(/"([\w.-]+)"/g)].map(([, key = ""]) => key).filter((key) => later.has(key));
        const made = [...source.matchAll(/`(\w+\.)\$\{/g)].map(([, start = ""]) => start);
        return [...keys, ...made.filter((start) => beginnings.includes(start))].map(
          (key) => `${folder}/${name}: ${key}`,
        );
      }),
    );
    expect(misplaced).toEqual([]);
  });
});
