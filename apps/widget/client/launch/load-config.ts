import type { WidgetConfigAnswer } from "@svc/contracts";

/** The settings; or advice for the site's owner if they are permanently denied; or null after `signal`. */
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
 * Loads the settings of a key, with texts of the server in a language (BCP 47; may be empty). While the server is
 * unavailable, it retries silently, after 2 s at first and up to two minutes later, each with a jitter of half. Resolves to
 * null after `signal`.
 */
export async function loadConfig(
  base: string,
  apiKey: string,
  lang: string,
  signal: AbortSignal,
): Promise<LoadedConfig> {
  const address = `${base}api/widget/config/${encodeURIComponent(apiKey)}?lang=${encodeURIComponent(lang)}`;
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

/** Waits, but no longer than until `signal`. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
