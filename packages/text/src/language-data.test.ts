import { expect, test } from "@jest/globals";
import { postgresConfigOf } from "./language-data.ts";

test.each([
  ["en", "english"],
  ["en-US", "english"],
  ["EN_gb", "english"],
  ["de", "german"],
  ["pt-BR", "portuguese"],
  ["nb", "norwegian"],
  ["nn-NO", "norwegian"],
  ["hr", "serbian"],
  ["et", "estonian"],
  ["yi", "yiddish"],
])("%s is stemmed by %s", (language, config) => expect(postgresConfigOf(language)).toBe(config));

test.each(["pl", "uk", "zh", "ja", "", "xx", "english; drop table", "__proto__", "constructor"])(
  "%j has no stemmer and takes simple",
  (language) => expect(postgresConfigOf(language)).toBe("simple"),
);
