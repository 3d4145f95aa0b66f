import type { WidgetConfigAnswer } from "@svc/contracts";

/** The calls of `window.svcWidget`, by name: those that a stub may have queued before the script loaded. */
export const CALLS = [
  "open",
  "close",
  "toggle",
  "destroy",
  "identify",
  "logout",
  "setLocale",
  "setTheme",
  "send",
  "on",
  "off",
] as const;

/** The visitor's identity according to the site; the hash proves it to the server. */
export interface Identity {
  userId: string;
  userHash?: string;
}

export type Theme = WidgetConfigAnswer["theme"];
type Position = WidgetConfigAnswer["position"];

/** Attributes of the script element. Null if missing or invalid: then the server's settings apply. */
export interface PageSettings {
  /** URL of the script's folder, with a trailing slash. */
  base: string;
  apiKey: string;
  /** `#rrggbb` */
  accent: string | null;
  position: Position | null;
  theme: Theme | null;
  locale: string | null;
  identity: Identity | null;
}

/** The used part of a script element. */
interface ScriptElement {
  src: string;
  dataset: Record<string, string | undefined>;
}

const POSITIONS: readonly unknown[] = ["bottom-right", "bottom-left"] satisfies Position[];
const THEMES: readonly unknown[] = ["auto", "light", "dark"] satisfies Theme[];

/** Reads the script element; returns null if it has no key, and therefore is not a widget's. */
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

/** Returns a color `#rgb` or `#rrggbb` as `#rrggbb`; null for anything else. */
function parseColor(color: string | undefined): string | null {
  const trimmed = color?.trim().toLowerCase() ?? "";
  if (/^#[\da-f]{3}$/.test(trimmed)) return trimmed.replace(/[\da-f]/g, "$&$&");
  return /^#[\da-f]{6}$/.test(trimmed) ? trimmed : null;
}

/** Returns whether a value is a theme. */
export const isTheme = (value: unknown): value is Theme => THEMES.includes(value);
const isPosition = (value: unknown): value is Position => POSITIONS.includes(value);

/**
 * Returns true if a path matches one of a list, in which a trailing `*` matches anything, and a trailing slash is
 * ignored.
 */
export const isHidden = (path: string, hidden: readonly string[]): boolean =>
  hidden.some((pattern) =>
    pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern || path === `${pattern}/`,
  );
