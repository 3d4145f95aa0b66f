import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { cutText, hasBadCharacters } from "./cut-text.ts";

describe("cutText", () => {
  test.each([
    ["a text that fits is returned as it is", " fits ", 6, " fits "],
    ["at the last sentence that fits", "First one. Second one. Third one.", 25, "First one. Second one."],
    ["not at an abbreviation", "We met Dr. Smith yesterday evening.", 16, "We met Dr. Smith"],
    [
      "at a word when a sentence would leave less than half",
      "Yes. A long sentence without an end",
      20,
      "Yes. A long sentence",
    ],
    ["at a word exactly at the limit", "hello world again", 11, "hello world"],
    ["before a code fence that does not fit", "Run this command.\n\n```\nnpm install\n```", 30, "Run this command."],
    ["within a word when there is no other way", "Donaudampfschifffahrt", 5, "Donau"],
    ["within a text of a script without spaces", "設定を開きます保存をクリック", 5, "設定を開き"],
    ["before an emoji that would be cut", "ab👩‍👩‍👧", 5, "ab"],
    ["before a flag that would be cut", "🇩🇪🇫🇷🇮🇹", 9, "🇩🇪🇫🇷"],
    ["before an accent that would be cut off", "abe\u0301", 3, "ab"],
    ["to nothing when nothing may stay", "text", 0, ""],
    ["to nothing below zero", "text", -1, ""],
  ])("cuts %s", (_title, text, maxChars, expected) => expect(cutText(text, maxChars)).toBe(expected));

  const words = fc.array(
    fc.oneof(fc.string({ unit: "grapheme", maxLength: 8 }), fc.constantFrom(". ", " ", "\n", "👩‍👩‍👧", "🇩🇪", "e\u0301")),
  );
  const texts = words.map((parts) => parts.join(""));

  test("gives a beginning of the text, of at most that length, well-formed", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 60 }), (text, maxChars) => {
        const cut = cutText(text, maxChars);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(maxChars);
        if (!hasBadCharacters(text)) expect(hasBadCharacters(cut)).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test("cuts no grapheme that fits", () => {
    const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
    fc.assert(
      fc.property(texts, fc.integer({ min: 40, max: 60 }), (text, maxChars) => {
        const cut = cutText(text, maxChars);
        const boundaries = new Set([text.length, ...[...segmenter.segment(text)].map(({ index }) => index)]);
        // White space at the end is dropped unit by unit: CR LF is one grapheme.
        expect(boundaries.has(cut.length) || /\s/.test(text.charAt(cut.length))).toBe(true);
      }),
    );
  });

  test("who goes on with the rest gets through any text, a giant grapheme too", () => {
    const giant = `a${"\u0301".repeat(50_000)}`;
    let rest = giant;
    let rounds = 0;
    for (; rest !== ""; rounds += 1) rest = rest.slice(cutText(rest, 4_096).length);
    expect(rounds).toBe(Math.ceil(giant.length / 4_096));
  });
});

test.each(["\0", "a\0b", "\ud800", "a\udc00", "\udc00\ud800", "👍\ud83d"])("%j is bad", (text) =>
  expect(hasBadCharacters(text)).toBe(true),
);

test.each(["", "text", "👍🏽", "𠀀", "\u0001\t\n", "\ufffd\ufffe", "שלום"])("%j is not", (text) =>
  expect(hasBadCharacters(text)).toBe(false),
);

test("a text is bad just when it holds NUL or does not survive UTF-8", () => {
  const unit = fc.integer({ min: 0, max: 0xff_ff }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const isBad = text.includes("\0") || Buffer.from(text, "utf8").toString("utf8") !== text;
      expect(hasBadCharacters(text)).toBe(isBad);
    }),
  );
});
