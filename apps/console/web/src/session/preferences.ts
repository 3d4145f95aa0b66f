import type { QueryClient } from "@tanstack/react-query";
import type { Session } from "../api/session.ts";
import { channelTexts, createTexts, LANGUAGES, pickLanguage } from "../i18n/texts.ts";
import type { Language, TextPart, Texts, TextTable } from "../i18n/texts.ts";
import { createStore } from "../ui/create-store.ts";
import type { Store } from "../ui/create-store.ts";

/** Queries with the same data for every operator. */
const OF_NOBODY: ReadonlySet<unknown> = new Set(["session", "sign-in-ways", "link"]);

/**
 * Clears all data, and calls `onOther`, when the session ends or another operator signs in, who must not see the
 * previous operator's data.
 */
export function clearDataOfOthers(queryClient: QueryClient, onOther: () => void): void {
  let owner: string | null = null;
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || query.queryKey[0] !== "session") return;
    const session = query.state.data as Session | null | undefined;
    const operatorId = session?.operator.id ?? null;
    if (operatorId === owner) return;
    const isOther = owner !== null;
    owner = operatorId;
    if (!isOther) return;
    queryClient.removeQueries({ predicate: ({ queryKey }) => !OF_NOBODY.has(queryKey[0]) });
    onOther();
  });
}

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Preferences of an operator in this browser. */
export interface Preferences {
  theme: Theme;
  language: Language;
  /** Whether single letters are keyboard shortcuts; users of speech input may want to disable them. */
  hasSingleKeys: boolean;
  /** Whether new reviews show a system notification. */
  hasNotifications: boolean;
  /** Whether the details of a ticket are open beside its conversation. */
  hasDetails: boolean;
  /** The chosen order of the inbox; null for the default. */
  inboxSort: string | null;
}

/** Also read by public/theme.js. */
const KEY = "console.preferences";

/** Parses stored preferences; missing or invalid values have their defaults. */
function readPreferences(stored: string | null, languages: readonly string[]): Preferences {
  let given: Record<string, unknown> = {};
  try {
    given = (JSON.parse(stored ?? "{}") as Record<string, unknown> | null) ?? {};
  } catch {
    // Invalid: the defaults apply.
  }
  const { theme, language } = given;
  return {
    theme: THEMES.find((name) => name === theme) ?? "system",
    language:
      typeof language === "string" && Object.hasOwn(LANGUAGES, language)
        ? (language as Language)
        : pickLanguage(languages),
    hasSingleKeys: given["hasSingleKeys"] !== false,
    hasNotifications: given["hasNotifications"] === true,
    hasDetails: given["hasDetails"] === true,
    inboxSort: typeof given["inboxSort"] === "string" ? given["inboxSort"] : null,
  };
}

function show({ theme, language }: Preferences): void {
  const { documentElement: root } = document;
  root.lang = language;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}

/** The preferences of this browser: stored and applied whenever they change. */
export function openPreferences(storage: Pick<Storage, "getItem" | "setItem">): Store<Preferences> {
  const store = createStore(readPreferences(storage.getItem(KEY), navigator.languages));
  show(store.get());
  store.subscribe(() => {
    show(store.get());
    storage.setItem(KEY, JSON.stringify(store.get()));
  });
  return store;
}

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
    return createTexts(tag, Object.assign({}, channelTexts(language), ...tables) as TextTable);
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
