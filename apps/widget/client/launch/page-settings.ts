import type { WidgetConfigAnswer } from "@svc/contracts";

/** Who the site says that the visitor is; the hash proves it to the server. */
export interface Identity {
  userId: string;
  userHash?: string;
}

export type Theme = WidgetConfigAnswer["theme"];
export type Position = WidgetConfigAnswer["position"];

/** What the script element says. Null where it says nothing, or nothing of use: the server's settings then count. */
export interface PageSettings {
  /** Address of the folder that the script is in, with a slash at its end. */
  base: string;
  apiKey: string;
  /** `#rrggbb` */
  accent: string | null;
  position: Position | null;
  theme: Theme | null;
  locale: string | null;
  identity: Identity | null;
}

/** The part of a script element that is read. */
export interface ScriptElement {
  src: string;
  dataset: Record<string, string | undefined>;
}

const POSITIONS: readonly unknown[] = ["bottom-right", "bottom-left"] satisfies Position[];
const THEMES: readonly unknown[] = ["auto", "light", "dark"] satisfies Theme[];

/** Reads the script element; null where it has no key, so that it is no widget's. */
export function readSettings({ src, dataset }: ScriptElement): PageSettings | null {
  const { apiKey, accent, position, theme, locale, userId, userHash } = dataset;
  if (!apiKey?.trim() || src === "") return null;
  return {
    base: new URL(".", src).href,
    apiKey: apiKey.trim(),
    accent: parseColor(accent),
    position: isPosition(position) ? position : null,
    theme: isTheme(theme) ? theme : null,
    locale: locale ?? null,
    identity: userId ? { userId, ...(userHash && { userHash }) } : null,
  };
}

/** A color `#rgb` or `#rrggbb` as `#rrggbb`; null for anything else. */
export function parseColor(color: string | undefined): string | null {
  const trimmed = color?.trim().toLowerCase() ?? "";
  if (/^#[\da-f]{3}$/.test(trimmed)) return trimmed.replace(/[\da-f]/g, "$&$&");
  return /^#[\da-f]{6}$/.test(trimmed) ? trimmed : null;
}

/** Whether a page has named a theme. */
export const isTheme = (value: unknown): value is Theme => THEMES.includes(value);
const isPosition = (value: unknown): value is Position => POSITIONS.includes(value);
