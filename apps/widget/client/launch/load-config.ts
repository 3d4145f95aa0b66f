import type { WidgetConfigAnswer } from "@svc/contracts";
import type { Identity } from "../connection/visitor.ts";

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

/** What became of the settings: there, refused for good with what the site's owner should know, or given up. */
export type LoadedConfig = { config: WidgetConfigAnswer } | { advice: string } | null;

const unknownKey = (apiKey: string) =>
  `the key "${apiKey}" in data-api-key is not known. Copy the widget's key from the channel settings.`;
const ADVICE: Record<number, (apiKey: string) => string> = {
  401: unknownKey,
  403: () => `this site (${location.origin}) is not among the widget's allowedOrigins. Add it in the channel settings.`,
  404: unknownKey,
};

const FIRST_WAIT_MS = 2_000;
const MOST_WAIT_MS = 120_000;

/**
 * Loads the settings of a key, and tries again in silence for as long as the server is away: 2 s at first, up to two
 * minutes, each time anything from half of that on. Ends with null after `signal`.
 */
export async function loadConfig(base: string, apiKey: string, signal: AbortSignal): Promise<LoadedConfig> {
  const address = `${base}api/widget/config/${encodeURIComponent(apiKey)}`;
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, MOST_WAIT_MS)) {
    const loaded = await tryLoad(address, apiKey, signal).catch(() => null);
    if (loaded !== null) return loaded;
    await pause((waitMs * (1 + Math.random())) / 2, signal);
  }
  return null;
}

async function tryLoad(address: string, apiKey: string, signal: AbortSignal): Promise<LoadedConfig> {
  const response = await fetch(address, { credentials: "omit", signal });
  if (response.ok) return { config: (await response.json()) as WidgetConfigAnswer };
  const advice = ADVICE[response.status];
  return advice === undefined ? null : { advice: advice(apiKey) };
}

/** Waits, but not past `signal`. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
