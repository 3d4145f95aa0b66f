import { describe, expect, test } from "@jest/globals";
import {
  PREVIEW_TEXTS,
  previewTextsOf,
  WIDGET_STRINGS,
} from "../../apps/console/web/src/integrations/preview-texts.ts";
import type { Locale } from "../../apps/widget/client/locales/strings.ts";

const FOLDER = "../../apps/widget/client/locales";

describe("the preview of the widget in the console", () => {
  test.each(Object.keys(PREVIEW_TEXTS))("has the same texts as the widget in %s", async (language) => {
    const { default: locale } = (await import(`${FOLDER}/${language}.json`, { with: { type: "json" } })) as {
      default: Locale;
    };
    const { greeting, messagePlaceholder, title } = locale.strings;
    expect(previewTextsOf(language)).toMatchObject({
      dir: locale.dir,
      title,
      greeting,
      placeholder: messagePlaceholder,
    });
  });

  test("offers to replace each of the widget's default texts, with its name", async () => {
    const { default: locale } = (await import(`${FOLDER}/en.json`, { with: { type: "json" } })) as { default: Locale };
    const { greeting: _greeting, title: _title, ...others } = locale.strings;
    const texts = Object.entries(others).map(([name, text]) => [name, typeof text === "string" ? text : text.other]);
    expect(WIDGET_STRINGS).toEqual(Object.fromEntries(texts));
  });

  test("selects a language regardless of its region, and falls back to English", () => {
    expect(previewTextsOf("pt-BR")).toBe(PREVIEW_TEXTS.pt);
    expect(previewTextsOf("sv")).toBe(PREVIEW_TEXTS.en);
  });
});
