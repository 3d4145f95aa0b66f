import { expect, test } from "@jest/globals";
import { readStoredArticle } from "./stored-article.ts";

test("unsaved text of an article is parsed with the version that it is based on, and invalid data is ignored", () => {
  const stored = { title: "Returns", text: "Within 30 days.", revision: 2, version: 5 };
  expect(readStoredArticle(JSON.stringify({ ...stored, evil: true }))).toEqual(stored);
  expect(readStoredArticle(JSON.stringify({ text: "Begun", revision: "2" }))).toEqual({ text: "Begun" });
  for (const other of [null, "", "no JSON", "null", "7", "[1]"]) expect(readStoredArticle(other)).toEqual({});
});
