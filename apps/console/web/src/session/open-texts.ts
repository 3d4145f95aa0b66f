import { createTexts } from "../i18n/texts.ts";
import type { Texts, Language, TextPart, TextTable } from "../i18n/texts.ts";
import { createStore } from "../ui/create-store.ts";
import type { Store } from "../ui/create-store.ts";

/** Loads the parts of a language's file, which the build splits: only the first is part of the first page load. */
type Source = Record<TextPart, () => Promise<TextTable>>;

const SOURCES: Record<Language, Source> = {
  en: {
    first: async () => (await import("../i18n/en.json?first")).default,
    ticket: async () => (await import("../i18n/en.json?ticket")).default,
    pages: async () => (await import("../i18n/en.json?pages")).default,
  },
  de: {
    first: async () => (await import("../i18n/de.json?first")).default,
    ticket: async () => (await import("../i18n/de.json?ticket")).default,
    pages: async () => (await import("../i18n/de.json?pages")).default,
  },
};

/** The parts in order: a page that needs one needs those before it, too. */
const PARTS: readonly TextPart[] = ["first", "ticket", "pages"];

/** The texts of the console, in the selected language. */
export interface OpenTexts {
  shown: Pick<Store<Texts>, "get" | "subscribe">;
  /**
   * Switches to this language once its texts are loaded. Rejects if they cannot be loaded: then the language is
   * unchanged.
   */
  choose: (language: Language) => Promise<void>;
  /** Also loads the texts of tickets, or those of all pages; resolves when they are shown. */
  need: (part: "ticket" | "pages") => Promise<void>;
}

/**
 * Opens the texts of a language; rejects if they cannot be loaded. Numbers and times use the region of the first of
 * `wanted` (BCP 47) in the selected language.
 */
export async function openTexts(first: Language, wanted: readonly string[]): Promise<OpenTexts> {
  let asked: { language: Language; part: TextPart } = { language: first, part: "first" };
  let done = asked;

  async function load({ language, part }: typeof asked): Promise<Texts> {
    const source = SOURCES[language];
    const tag = wanted.find((name) => name.toLowerCase().split("-")[0] === language) ?? language;
    const tables = await Promise.all(PARTS.slice(0, PARTS.indexOf(part) + 1).map((name) => source[name]()));
    return createTexts(tag, Object.assign({}, ...tables) as TextTable);
  }
  const shown = createStore(await load(asked));

  /** Loads and shows the requested texts, including those requested meanwhile. */
  async function show(): Promise<void> {
    if (asked === done) return;
    const mine = asked;
    const texts = await load(mine);
    if (mine !== asked) return show();
    done = mine;
    shown.set(texts);
  }
  return {
    shown,
    async choose(language) {
      if (language !== asked.language) asked = { ...asked, language };
      await show();
    },
    async need(part) {
      if (PARTS.indexOf(part) > PARTS.indexOf(asked.part)) asked = { ...asked, part };
      await show();
    },
  };
}
