const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What passes between the tries of a callback; after the last one it is dead. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
  48 * HOUR,
];

/** Receivers that came back together are not all called at once: each delay is longer by up to this share. */
const JITTER = 0.1;
/** A receiver may ask for at most this much patience. */
const RETRY_AFTER_MAX_MS = 48 * HOUR;

/**
 * Wait in milliseconds after this number of failed attempts; null after the last one. A receiver that asks for more time
 * (`Retry-After`) gets it, at most 48 hours. `random` is at least 0 and below 1.
 */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: number): number | null {
  const planned = RETRY_DELAYS_MS[failures - 1];
  if (planned === undefined) return null;
  const wanted = Math.max(planned, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
  return wanted * (1 + JITTER * random);
}

/** What `Retry-After` asks for (RFC 9110, section 10.2.3: seconds or a date); null when it says nothing usable. */
export function readRetryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,10}$/.test(value.trim())) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
