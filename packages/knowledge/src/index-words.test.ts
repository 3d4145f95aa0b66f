import { describe, expect, test } from "@jest/globals";
import { indexWords } from "./index-words.ts";

const count = (chunk: { text: string; headingPath: string[] }, title: string) => {
  const { words, termCount } = indexWords(chunk, { title, language: "en" });
  const fields = words.map(({ word, titleCount, headingCount, bodyCount }) => [
    word,
    [titleCount, headingCount, bodyCount],
  ]);
  return { fields: Object.fromEntries(fields) as Record<string, number[]>, termCount };
};

describe("indexWords", () => {
  test("counts each word by the field that it stands in", () => {
    const { fields } = count({ text: "Backup daily. Backup offsite.", headingPath: ["Guide", "Backup"] }, "Manual");
    expect(fields).toEqual({
      manual: [1, 0, 0],
      guide: [0, 1, 0],
      backup: [0, 1, 2],
      daily: [0, 0, 1],
      offsite: [0, 0, 1],
    });
  });

  test("leaves stop words of the body out, and keeps those of title and headings", () => {
    const { fields, termCount } = count({ text: "It is the default.", headingPath: ["Who are we?"] }, "All of it");
    expect(Object.keys(fields)).toEqual(["all", "of", "it", "who", "are", "we", "default"]);
    expect(termCount).toBe(1);
  });

  test("a heading that is the title counts once", () => {
    expect(count({ text: "x", headingPath: ["Backup", "Daily"] }, "Backup").fields["backup"]).toEqual([1, 0, 0]);
  });
});
