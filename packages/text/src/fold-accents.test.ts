import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { foldAccents } from "./fold-accents.ts";

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
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => foldAccents(foldAccents(text)) === foldAccents(text)));
});
