import { expect, test } from "@jest/globals";
import { pickLocale } from "./pick-locale.ts";

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
