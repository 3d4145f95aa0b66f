import { describe, expect, test } from "@jest/globals";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import { CHANNEL_IDS } from "@svc/contracts";
import { channelTexts, createTexts, fillText, LANGUAGES } from "./texts.ts";
import type { Language, TextEntry, TextPart, TextsOf } from "./texts.ts";

const PARTS = ["first", "ticket", "pages"] as const;
/** The type check compares the German texts with the English ones here: none may be missing. */
const german: { [Part in TextPart]: TextsOf<Part> } = de;

const placeholdersOf = (text: string) =>
  [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort((one, other) => (one < other ? -1 : 1));

describe("the texts of the console", () => {
  test("select the plural form, and format the number", () => {
    const { t } = createTexts("en", en.first);
    expect(t("bulk.resolveDone", { n: 1 })).toBe("1 ticket resolved.");
    expect(t("bulk.resolveDone", { n: 1200 })).toBe("1,200 tickets resolved.");
  });

  test("format the age of an event as briefly as possible", () => {
    const { ago } = createTexts("en", en.first);
    const now = Date.parse("2026-11-22T12:00:00Z");
    expect(ago("2026-11-22T11:59:30Z", now)).toBe("now");
    expect(ago("2026-11-22T11:15:00Z", now)).toBe("45 min");
    expect(ago("2026-11-20T11:15:00Z", now)).toBe("2 d");
  });

  test("format durations from a minute on in whole units", () => {
    const [english, german] = [createTexts("en", en.first), createTexts("de", de.first)];
    const [minute, hour] = [60_000, 3_600_000];
    const of = (ms: number) => [english.duration(ms), german.duration(ms)];
    expect(of(3_400)).toEqual(["3.4 sec", "3,4 Sek."]);
    expect(of(5.4 * minute)).toEqual(["5 min", "5 Min."]);
    expect(of(11.7 * hour)).toEqual(["11 hr 42 min", "11 Std. 42 Min."]);
    expect(of(12 * hour)).toEqual(["12 hr", "12 Std."]);
    expect(of(59.9 * minute)).toEqual(["1 hr", "1 Std."]);
    expect(of(76 * hour)).toEqual(["3 days 4 hr", "3 Tg. 4 Std."]);
  });

  test("format the same within a sentence", () => {
    const [english, german] = [createTexts("en", en.first), createTexts("de", de.first)];
    const now = Date.parse("2026-11-22T12:00:00Z");
    const past = (time: string) => [english.past(time, now), german.past(time, now)];
    expect(past("2026-11-22T11:59:30Z")).toEqual(["just now", "gerade eben"]);
    expect(past("2026-11-22T11:15:00Z")).toEqual(["45 minutes ago", "vor 45 Minuten"]);
    expect(past("2026-11-21T11:15:00Z")).toEqual(["yesterday", "gestern"]);
    expect(past("2026-11-02T12:00:00Z")).toEqual(["on Nov 2, 2026", "am 02.11.2026"]);
    expect(english.since("2026-11-02T12:00:00Z", now)).toBe("since Nov 2, 2026");
  });

  test("are their own keys until they are loaded", () => {
    expect(createTexts("en", en.first).t("overview.text")).toBe("overview.text");
  });

  test.each(Object.keys(LANGUAGES) as Language[])("contain those of every channel: %s", (language) => {
    const { t, names } = createTexts(language, channelTexts(language));
    expect(names("channel")).toEqual(CHANNEL_IDS);
    expect(CHANNEL_IDS.filter((id) => t(`integration.${id}`) === `integration.${id}`)).toEqual([]);
  });

  test("insert values literally, including special characters", () => {
    expect(fillText("{name}: {what} {other}", { name: "$& {what}", what: "x" })).toBe("$& {what}: x {other}");
  });

  test.each(PARTS)("have the same keys in each language, in the same order: %s", (part) => {
    expect(Object.keys(german[part])).toEqual(Object.keys(en[part]));
  });

  test.each(PARTS)("have the same placeholders in each language: %s", (part) => {
    const texts: Record<string, TextEntry> = { ...german[part] };
    const odd = Object.entries(en[part]).flatMap(([key, entry]: [string, TextEntry]) => {
      const [one, two] = [entry, texts[key] ?? ""].map((text) =>
        placeholdersOf(typeof text === "string" ? text : text.other),
      );
      return JSON.stringify(one) === JSON.stringify(two) ? [] : [key];
    });
    expect(odd).toEqual([]);
  });
});

const SOURCES = join(import.meta.dirname, "..");
/** Folders of parts that are shown without opening another page first. */
const FIRST = ["api", "app", "inbox", "session", "sign-in", "ticket", "ui"];

describe("the texts that are loaded initially", () => {
  test("are all that the inbox, its tickets and the layout of every page use", () => {
    const later = new Set(Object.keys(en.pages));
    const beginnings = [...later].map((key) => key.slice(0, key.indexOf(".") + 1));
    const unordered = FIRST.flatMap((folder) =>
      readdirSync(join(SOURCES, folder)).flatMap((name) => {
        const source = readFileSync(join(SOURCES, folder, name), "utf8");
        const keys = [...source.matchAll(/"([\w.-]+)"/g)].map(([, key = ""]) => key).filter((key) => later.has(key));
        const made = [...source.matchAll(/`(\w+\.)\$\{/g)].map(([, start = ""]) => start);
        return [...keys, ...made.filter((start) => beginnings.includes(start))].map(
          (key) => `${folder}/${name}: ${key}`,
        );
      }),
    );
    expect(unordered).toEqual([]);
  });
});
