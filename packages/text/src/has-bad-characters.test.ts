import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { hasBadCharacters } from "./has-bad-characters.ts";

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
