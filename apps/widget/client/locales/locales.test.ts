import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import en from "./en.json" with { type: "json" };
import { LANGUAGES } from "./create-texts.ts";
import type { Locale, PluralText, StringName, Strings } from "./strings.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

/** The type check fails here if English lacks a text or has an additional one. */
const ENGLISH: Strings = en.strings;
const NAMES: StringName[] = Object.keys(en.strings) as (keyof typeof en.strings)[];

async function load(language: string): Promise<Locale> {
  const module = (await import(`./${language}.json`, { with: { type: "json" } })) as { default: Locale };
  return module.default;
}

function forms(text: string | PluralText): string[] {
  return typeof text === "string" ? [text] : Object.values(text);
}

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{[^}]*\}/g)].map(String).sort();
}

test("there is a file for each available language, and no other", () => {
  const files = readdirSync(HERE).filter((file) => file.endsWith(".json"));
  expect(files.sort()).toEqual(LANGUAGES.map((language) => `${language}.json`).sort());
});

describe.each(LANGUAGES)("%s", (language) => {
  test("declares its language and its direction", async () => {
    const locale = await load(language);
    expect(locale.language).toBe(language);
    expect(locale.dir).toBe(language === "ar" || language === "he" ? "rtl" : "ltr");
  });

  test("has every text, in the order of the English ones, and none is empty", async () => {
    const { strings } = await load(language);
    expect(Object.keys(strings)).toEqual(NAMES);
    for (const form of Object.values(strings).flatMap(forms)) expect(form.trim()).not.toBe("");
  });

  test("has exactly the plural forms of the language, for texts that have plural forms in English", async () => {
    const { strings } = await load(language);
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();
    const plural = Object.entries(strings).filter(([, text]) => typeof text !== "string");
    expect(plural.map(([name]) => name)).toEqual(["unread", "charactersLeft", "faultFileCount"]);
    for (const [, text] of plural) expect(Object.keys(text).sort()).toEqual(categories);
  });

  test("has the same placeholders as English; a form for one, two or none may spell out its number", async () => {
    const { strings } = await load(language);
    for (const [name, text] of Object.entries(strings)) {
      const wanted = placeholders(forms(ENGLISH[name as StringName])[0] ?? "");
      const entries = typeof text === "string" ? ([["other", text]] as const) : Object.entries<string>(text);
      for (const [form, pattern] of entries) {
        const found = placeholders(pattern);
        const isSpelt = ["zero", "one", "two"].includes(form) && found.length === 0;
        expect({ name, form, found: isSpelt ? wanted : found }).toEqual({ name, form, found: wanted });
      }
    }
  });
});
