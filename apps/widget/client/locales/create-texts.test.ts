import { describe, expect, test } from "@jest/globals";
import ar from "./ar.json" with { type: "json" };
import { createTexts, pickLocale } from "./create-texts.ts";
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import pl from "./pl.json" with { type: "json" };

test.each([
  { wishes: ["fr"], language: "fr", tag: "fr" },
  { wishes: ["pt-BR"], language: "pt", tag: "pt-BR" },
  { wishes: ["de-at"], language: "de", tag: "de-AT" },
  { wishes: ["zh-Hant-TW"], language: "zh", tag: "zh-Hant-TW" },
  { wishes: ["pt_BR"], language: "pt", tag: "pt-BR" },
  { wishes: ["IW"], language: "he", tag: "he" },
  { wishes: [null, "", "sv", "nl-BE", "de"], language: "nl", tag: "nl-BE" },
])("$wishes selects $language, formatted for $tag", ({ wishes, language, tag }) => {
  expect(pickLocale(wishes)).toEqual({ language, tag });
});

test("an invalid language tag, or a language without a file, is skipped; English is the fallback", () => {
  expect(pickLocale(["<script>", "en us", "\u0000", "x".repeat(10_000), "tlh", undefined])).toEqual({
    language: "en",
    tag: "en",
  });
});

const english = createTexts({ tag: "en", strings: en.strings });
const MIB = 1024 * 1024;

describe("text", () => {
  test("inserts values, and selects the plural form for a number", () => {
    expect(english.text("removeFile", { name: "a.pdf" })).toBe("Remove a.pdf");
    expect(english.text("unread", { count: 1 })).toBe("1 new message");
    expect(english.text("unread", { count: 1200 })).toBe("1,200 new messages");
    const polish = createTexts({ tag: "pl", strings: pl.strings });
    expect([1, 3, 5, 22].map((count) => polish.text("unread", { count }))).toEqual([
      "1 nowa wiadomość",
      "3 nowe wiadomości",
      "5 nowych wiadomości",
      "22 nowe wiadomości",
    ]);
  });

  test("a site's own text replaces the default, with all of its forms", () => {
    const overrides = { send: "Off you go", unread: "{count} waiting" };
    const texts = createTexts({ tag: "en", strings: en.strings, overrides });
    expect(texts.text("send")).toBe("Off you go");
    expect(texts.text("unread", { count: 1 })).toBe("1 waiting");
  });

  test("an unknown name, or one that every object has, has the text of a general error", () => {
    for (const name of ["faultOfTomorrow", "constructor", "__proto__", "toString"]) {
      expect(english.text(name)).toBe(en.strings.faultOther);
    }
  });

  test("a value is inserted literally", () => {
    expect(english.text("removeFile", { name: "$& {count} <b>" })).toBe("Remove $& {count} <b>");
  });

  test("a file name cannot change the direction of the surrounding text", () => {
    expect(english.text("download", { name: "invoice\u202efdp.exe" })).toBe("Download invoicefdp.exe");
    expect(english.text("download", { name: "שלום.pdf" })).toBe("Download \u2068שלום.pdf\u2069");
    expect(createTexts({ tag: "ar", strings: ar.strings }).text("download", { name: "a.pdf" })).toBe(
      "تنزيل \u2068a.pdf\u2069",
    );
  });
});

test("times, days, sizes and percentages are formatted for the language", () => {
  const now = new Date(2026, 10, 22, 9, 5).getTime();
  const german = createTexts({ tag: "de", strings: de.strings, now: () => now });
  expect(german.time(now)).toBe("09:05");
  expect(german.day(now)).toBe("Heute");
  expect(german.day(new Date(2026, 10, 21, 23, 59).getTime())).toBe("Gestern");
  expect(german.day(new Date(2026, 10, 20).getTime())).toBe("20.11.2026");
  expect(german.size(1.25 * MIB)).toBe("1,3 MB");
  expect(german.percent(0.5)).toBe("50\u00a0%");
  expect([0, 1023, 1024, 10 * MIB, 3000 * MIB].map((bytes) => english.size(bytes))).toEqual([
    "0 bytes",
    "1,023 bytes",
    "1 kB",
    "10 MB",
    "3,000 MB",
  ]);
});
