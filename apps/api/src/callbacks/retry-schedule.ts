const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays between the attempts of a callback; after the last one it is dead. */
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

/**
 * Maximum share that is added to each delay, so that receivers that recover together are not called at the same time.
 */
const JITTER = 0.1;
/** Maximum delay that a receiver can request. */
const RETRY_AFTER_MAX_MS = 48 * HOUR;

/**
 * Returns the delay in milliseconds after this number of failed attempts; null after the last one. A receiver can
 * request a longer one (`Retry-After`), at most 48 hours. `random` is at least 0 and below 1.
 */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: number): number | null {
  const planned = RETRY_DELAYS_MS[failures - 1];
  if (planned === undefined) return null;
  const wanted = Math.max(planned, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
  return wanted * (1 + JITTER * random);
}

/**
 * Returns the delay requested by `Retry-After` (RFC 9110, section 10.2.3: seconds or a date); null if it is invalid.
 */
export function readRetryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,10}$/.test(value.trim())) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
