import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { findQuote } from "./find-quote.ts";

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
