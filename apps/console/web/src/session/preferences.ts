import type { QueryClient } from "@tanstack/react-query";
import { LANGUAGES, pickLanguage } from "../i18n/texts.ts";
import type { Language } from "../i18n/texts.ts";
import { createStore } from "../ui/create-store.ts";
import type { Store } from "../ui/create-store.ts";
import type { Session } from "../api/session.ts";

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
}

/** Also read by public/theme.js. */
const KEY = "console.preferences";

/** Parses stored preferences; missing or invalid values have their defaults. */
export function readPreferences(stored: string | null, languages: readonly string[]): Preferences {
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
