import { createHash } from "node:crypto";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import type { CountLimit, Counters } from "@svc/queue";

/** Limited actions, each with its own setting. */
export type Use = "messages" | "configReads" | "files" | "sockets";

const WINDOW_SECONDS = 60;
/** Limit of the bytes of one address in a window, counted in blocks: small content costs little, but is never free. */
interface ByteLimit {
  counter: string;
  blockBytes: number;
  maxMegabytes: number;
  windowSeconds: number;
  /** Name of the limited content and its window, within the error text. */
  words: string;
}

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** Twenty-five of the largest files per hour, and twice that per day. */
const FILE_LIMITS: readonly ByteLimit[] = [
  { counter: "blocks", blockBytes: 64 * 1024, maxMegabytes: 250, windowSeconds: HOUR_SECONDS, words: "files an hour" },
  { counter: "day-blocks", blockBytes: 64 * 1024, maxMegabytes: 500, windowSeconds: DAY_SECONDS, words: "files a day" },
];
/** Ten thousand short messages, or a thousand of the longest. */
const TEXT_LIMITS: readonly ByteLimit[] = [
  { counter: "texts", blockBytes: 2 * 1024, maxMegabytes: 20, windowSeconds: DAY_SECONDS, words: "text a day" },
];

/** State of a limit after a use. */
export interface UseCount {
  limit: number;
  remaining: number;
  resetSeconds: number;
  isOver: boolean;
}

/** The setting and the text of each use. */
const USES = {
  messages: { setting: "messagesPerMinute", words: "messages" },
  configReads: { setting: "configReadsPerMinute", words: "reads of the settings" },
  files: { setting: "filesPerMinute", words: "files" },
  sockets: { setting: "socketsPerMinute", words: "new sockets" },
} as const satisfies Record<Use, { setting: keyof WidgetSettings; words: string }>;

const secondsOf = (resetMs: number) => Math.max(Math.ceil(resetMs / 1_000), 1);

function tooMany(detail: string, seconds: number): ServiceError {
  return new ServiceError("rate_limited", `${detail} Try again in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });
}

/** Returns the name of a counter, which is short and contains no data from callers. */
const counterOf = (what: string, address: string, key: string) =>
  `widget-${what}:${address}:${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;

/** Counts one use by address and key, over all replicas. */
export async function countUse(
  counters: Counters,
  use: Use,
  { address, key, settings }: { address: string; key: string; settings: WidgetSettings },
): Promise<UseCount> {
  const limit = settings[USES[use].setting];
  const counted = await counters.count(counterOf(use, address, key), { limit, windowSeconds: WINDOW_SECONDS });
  return { limit, remaining: counted.remaining, resetSeconds: secondsOf(counted.resetMs), isOver: counted.isOver };
}

/** Returns the error of an exhausted limit. */
export function limitExceeded(use: Use, { limit, resetSeconds }: UseCount): ServiceError {
  return tooMany(`The widget accepts ${limit} ${USES[use].words} per minute from one IP address.`, resetSeconds);
}

/** Returns the fields of the IETF draft "RateLimit header fields for HTTP" for a use. */
export function rateLimitFields(use: Use, { limit, remaining, resetSeconds }: UseCount): Record<string, string> {
  return {
    "RateLimit-Policy": `"${use}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${use}";r=${remaining};t=${resetSeconds}`,
  };
}

async function countLimits(
  counters: Counters,
  { address, key }: { address: string; key: string },
  bytes: number,
  limits: readonly ByteLimit[],
): Promise<void> {
  for (const { counter, blockBytes, maxMegabytes, windowSeconds, words } of limits) {
    const name = counterOf(counter, address, key);
    const limit: CountLimit = { limit: (maxMegabytes * 1024 * 1024) / blockBytes, windowSeconds };
    // Concurrent counts of one counter share one round trip.
    const blocks = Math.max(Math.ceil(bytes / blockBytes), 1);
    const counted = await Promise.all(Array.from({ length: blocks }, () => counters.count(name, limit)));
    const over = counted.find(({ isOver }) => isOver);
    if (over === undefined) continue;
    throw tooMany(`The widget accepts ${maxMegabytes} MB of ${words} from one IP address.`, secondsOf(over.resetMs));
  }
}

/**
 * Counts the bytes of a file by address and key, over all replicas. Throws rate_limited. Without this limit one address
 * could fill the storage of the project within the limit of files.
 */
export const countBytes = (counters: Counters, caller: { address: string; key: string }, bytes: number) =>
  countLimits(counters, caller, bytes, FILE_LIMITS);

/** Counts the bytes of a message's text by address and key, over all replicas. Throws rate_limited. */
export const countText = (counters: Counters, caller: { address: string; key: string }, text: string) =>
  countLimits(counters, caller, Buffer.byteLength(text), TEXT_LIMITS);

/** Counts a call without a valid key; returns the error to throw: the given one, or rate_limited instead. */
export async function countFailure(counters: Counters, address: string, error: ServiceError): Promise<ServiceError> {
  const limit = { limit: LIMITS.failedAuthsPerMinute, windowSeconds: WINDOW_SECONDS };
  const counted = await counters.count(`widget-auth:${address}`, limit);
  if (!counted.isOver) return error;
  return tooMany("Too many requests without a valid key from this IP address.", secondsOf(counted.resetMs));
}
