import { describe, expect, test } from "@jest/globals";
import { STOP_WORD_LANGUAGES, postgresConfigOf, questionWords, stopWords } from "./language-data.ts";
import { tokenize } from "./tokenize.ts";

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

const PROMISED = ["en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "ru", "tr", "pl", "uk"];

test.each(PROMISED)("%s has stop words and question words", (language) => {
  expect(stopWords(language).size).toBeGreaterThan(80);
  expect(questionWords(language).size).toBeGreaterThan(7);
});

describe.each([...STOP_WORD_LANGUAGES])("%s", (language) => {
  test("every question word is a stop word too", () => {
    expect([...questionWords(language)].filter((word) => !stopWords(language).has(word))).toEqual([]);
  });

  test("the words are in the form of tokens, so that tokens can be compared with them", () => {
    const others = [...stopWords(language)].filter((word) => {
      const [first, second] = tokenize(word);
      return second === undefined && first?.term !== word;
    });
    expect(others).toEqual([]);
  });
});

test.each([
  ["en", ["the", "don't", "what", "please"], ["password", "order"]],
  ["de", ["der", "nicht", "wie", "können"], ["passwort", "machen"]],
  ["fr", ["le", "qu", "comment"], ["commande", "personne"]],
  ["pl", ["się", "jak", "nie"], ["hasło"]],
  ["uk", ["що", "як", "не"], ["пароль"]],
])("%s: %j carry no topic, %j do", (language, without, withTopic) => {
  for (const word of without) expect(stopWords(language).has(word)).toBe(true);
  for (const word of withTopic) expect(stopWords(language).has(word)).toBe(false);
});

test("a tag with a region means its language, an unknown one has no stop words", () => {
  expect(stopWords("pt-BR")).toBe(stopWords("pt"));
  expect(stopWords("nb")).toBe(stopWords("no"));
  expect(stopWords("xx").size).toBe(0);
  expect(stopWords("constructor").size).toBe(0);
});
