import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { compareTokens, findCodes, foldAccents, isSameWord, searchWords, tokenize } from "./tokenize.ts";

describe("foldAccents", () => {
  test.each([
    ["Größe", "Grosse"],
    ["crème brûlée", "creme brulee"],
    ["Ångström", "Angstrom"],
    ["Łódź", "Lodz"],
    ["smørrebrød æble", "smorrebrod aeble"],
    ["Ελλάδα", "Ελλαδα"],
    ["ёлка", "елка"],
    ["ışık", "isik"],
    ["Tiếng Việt", "Tieng Viet"],
    ["مُحَمَّد", "محمد"],
  ])("%s is written %s", (text, folded) => expect(foldAccents(text)).toBe(folded));

  test.each(["мой", "їжак", "हिन्दी", "がぎぐ", "한국어", "漢字", "👍🏽", "3.14"])(
    "%s keeps what makes its letters",
    (text) => expect(foldAccents(text)).toBe(text),
  );

  test("folding twice changes nothing more", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => foldAccents(foldAccents(text)) === foldAccents(text)),
    );
  });
});

function termsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => term);
}

describe("tokenize", () => {
  test.each<[string, string[]]>([
    ["Hello, World! (again)", ["hello", "world", "again"]],
    ["It costs 3.14 or 1,000,000. Not 5.", ["it", "costs", "3.14", "or", "1,000,000", "not", "5"]],
    ["e-mail foo_bar node.js iPhone15 E50", ["e", "mail", "foo", "bar", "node", "js", "iphone15", "e50"]],
    ["don't I'd can’t we've", ["don't", "i'd", "can't", "we've"]],
    ["the user's users' it's", ["the", "user", "users", "it"]],
    ["l'eau d'un qu’il dell'acqua c'è", ["l", "eau", "d", "un", "qu", "il", "dell", "acqua", "c", "è"]],
    ["Ankara'da İstanbul IŞIK", ["ankara", "da", "istanbul", "işik"]],
    ["п'ять комп’ютер Ёлка", ["п'ять", "комп'ютер", "ёлка"]],
    ["Straße GRÖSSE ﬁne ＡＢＣ", ["straße", "grösse", "fine", "abc"]],
    ["मेरा ऑर्डर", ["मेरा", "ऑर्डर"]],
    ["שלום עולם مرحبا", ["שלום", "עולם", "مرحبا"]],
    ["パスワードをリセット", ["パスワード", "を", "リセット"]],
    ["我的密码", ["我的", "密码"]],
    ["😀 … — !", []],
    ["", []],
  ])("%j", (text, terms) => expect(termsOf(text)).toEqual(terms));

  test("a decomposed letter is the same as a composed one", () => {
    expect(termsOf("Ca\u0301diz")).toEqual(termsOf("C\u00e1diz"));
  });

  test("Thai is cut into words", () => {
    expect(termsOf("ฉันจะรีเซ็ตรหัสผ่าน").length).toBeGreaterThan(2);
  });

  test("offsets are in order, without overlap, and point at what holds a letter or digit", () => {
    const unit = fc.oneof(
      fc.constantFrom("'", "’", ".", ",", "漢", "カ", "ก", "1", "s"),
      fc.string({ unit: "binary", maxLength: 2 }),
    );
    fc.assert(
      fc.property(
        fc.array(unit).map((units) => units.join("")),
        (text) => {
          let position = 0;
          for (const { term, start, end } of tokenize(text)) {
            expect(start).toBeGreaterThanOrEqual(position);
            expect(end).toBeGreaterThan(start);
            expect(text.slice(start, end)).toMatch(/[\p{L}\p{N}]/u);
            expect(term).not.toMatch(/\s|[A-Z]/);
            position = end;
          }
          expect(position).toBeLessThanOrEqual(text.length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("hostile texts of 100,000 characters are done in one pass, in scripts without spaces too", () => {
    for (const part of ["a", "1", "1.", "1,", "a'", "'", "漢", "カ", "ก", "\u0301", "𠀀", "👍", "\ud800", "é"]) {
      for (const tail of ["", "a"]) {
        const text = part.repeat(100_000 / part.length) + tail;
        expect(tokenize(text).at(-1)?.end ?? 0).toBeLessThanOrEqual(text.length);
      }
    }
  });

  test("no surrogate pair is cut in a long run", () => {
    for (const { term } of tokenize(`漢${"𠀀".repeat(5_000)}`)) expect(term).not.toMatch(/\p{Surrogate}/u);
  });
});

test("a name with letters and digits is one word, however it is joined", () => {
  expect(findCodes("What does K-1050 cost, and E_07/b?").map(({ term }) => term)).toEqual(["k1050", "e07b"]);
  expect(findCodes("COVID-19")).toEqual([{ term: "covid19", start: 0, end: 8, words: ["covid"] }]);
});

test("numbers, dates, words with hyphens and addresses are no codes", () => {
  expect(findCodes("3.14, 2024-05-01, well-known, 10.0.0.1, e-mail")).toEqual([]);
});

describe("the words that a search goes by", () => {
  test("are compared without case and accents, and each counts once", () => {
    expect(searchWords("Größe, GROSSE größe; Café-Crème 3.14")).toEqual(["grosse", "cafe", "creme", "3.14"]);
    expect(searchWords("Ελλάδα ёлка й")).toEqual(["ελλαδα", "елка", "й"]);
  });

  test("are those of any script", () => {
    expect(searchWords("请问发票").length).toBeGreaterThan(0);
    expect(searchWords("— … !? 😀")).toEqual([]);
    expect(searchWords("مرحبا ــــ \uFE7D ʼ")).toEqual(["مرحبا"]);
    const dropped = Array.from({ length: 0x100 }, (_, at) => String.fromCodePoint(0x600 + at)).filter(
      (sign) => foldAccents(sign) === "",
    );
    expect(dropped.length).toBeGreaterThan(5);
    expect(searchWords(dropped.map((sign) => `7${sign}٣ ${sign} ـ${sign}`).join(" "))).toEqual(["7٣"]);
  });

  test("have 64 characters at most and are never cut inside one", () => {
    expect(searchWords("x".repeat(100))).toEqual(["x".repeat(64)]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const word of searchWords(text.toWellFormed())) {
          expect(word).not.toBe("");
          expect(Array.from(word).length).toBeLessThanOrEqual(64);
          expect(word.isWellFormed()).toBe(true);
          expect(word).not.toContain(":");
        }
      }),
    );
  });
});

const compare = (given: string, wanted: string) =>
  compareTokens(given.split(" ").filter(Boolean), wanted.split(" ").filter(Boolean));

test("the same words in the same order are all in common", () => {
  expect(compare("press the red button", "press the red button")).toEqual({ f1: 1, rougeL: 1 });
});

test("the order counts for ROUGE-L alone", () => {
  // The example of Lin (2004): the longest common sequence of both is of two words.
  expect(compare("the gunman kill police", "police kill the gunman")).toEqual({ f1: 1, rougeL: 0.5 });
  expect(compare("police kill the gunman", "police killed the gunman")).toEqual({ f1: 0.75, rougeL: 0.75 });
});

test("a word counts as often as both have it", () => {
  expect(compare("no no no", "no").f1).toBe(0.5);
});

test("what says nothing has nothing in common", () => {
  for (const [given, wanted] of [
    ["", "a"],
    ["a", ""],
    ["", ""],
  ] as const) {
    expect(compare(given, wanted)).toEqual({ f1: 0, rougeL: 0 });
  }
});

describe("isSameWord", () => {
  test.each([
    ["password", "passwords"],
    ["restore", "restored"],
    ["founded", "founding"],
    ["rechnung", "rechnungen"],
    ["réinitialiser", "réinitialisé"],
    ["up", "up"],
    ["東京", "東京"],
  ])("%s and %s are forms of one word", (one, other) => {
    expect([isSameWord(one, other), isSameWord(other, one)]).toEqual([true, true]);
  });

  test.each([
    ["pass", "password"],
    ["form", "formation"],
    ["run", "rune"],
    ["east", "easter's"],
    ["restore", "report"],
    ["austria", "australia"],
    ["", "a"],
  ])("%s and %s are different words", (one, other) => {
    expect([isSameWord(one, other), isSameWord(other, one)]).toEqual([false, false]);
  });
});
