import { createHash } from "node:crypto";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import type { CountLimit, Counters } from "@svc/queue";

/** What is limited, each by its own setting. */
export type Use = "messages" | "configReads" | "files" | "sockets";

const WINDOW_SECONDS = 60;
/** Bytes that are counted as one: a small file costs little, and no file many counts. */
const BLOCK_BYTES = 64 * 1024;
/** What one address may send in files, in MB: twenty-five of the largest. */
const MEGABYTES_AN_HOUR = 250;
const BLOCKS: CountLimit = { limit: (MEGABYTES_AN_HOUR * 1024 * 1024) / BLOCK_BYTES, windowSeconds: 3_600 };

/** Where a limit stands after a use. */
export interface UseCount {
  limit: number;
  remaining: number;
  resetSeconds: number;
  isOver: boolean;
}

/** The setting and the words of each use. */
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

/** Names of counters are short and hold nothing that somebody sent. */
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

/** The error of a limit that is used up. */
export function overUse(use: Use, { limit, resetSeconds }: UseCount): ServiceError {
  return tooMany(`The widget takes ${limit} ${USES[use].words} a minute from one address.`, resetSeconds);
}

/** The fields of the IETF draft "RateLimit header fields for HTTP" for a use. */
export function rateLimitFields(use: Use, { limit, remaining, resetSeconds }: UseCount): Record<string, string> {
  return {
    "RateLimit-Policy": `"${use}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${use}";r=${remaining};t=${resetSeconds}`,
  };
}

/**
 * Counts the bytes of a file by address and key, over all replicas, in blocks. Throws rate_limited. Without it one
 * address could fill the disk within the limit of files.
 */
export async function countBytes(
  counters: Counters,
  { address, key }: { address: string; key: string },
  bytes: number,
): Promise<void> {
  const name = counterOf("blocks", address, key);
  // Counts of one counter that come at once are one round trip.
  const counted = await Promise.all(
    Array.from({ length: Math.ceil(bytes / BLOCK_BYTES) }, () => counters.count(name, BLOCKS)),
  );
  const over = counted.find(({ isOver }) => isOver);
  if (over === undefined) return;
  throw tooMany(`The widget takes ${MEGABYTES_AN_HOUR} MB of files an hour from one address.`, secondsOf(over.resetMs));
}

/** Counts a call that has shown no valid key; answers the error to throw: the given one, or rate_limited in its place. */
export async function countFailure(counters: Counters, address: string, error: ServiceError): Promise<ServiceError> {
  const limit = { limit: LIMITS.failedAuthsPerMinute, windowSeconds: WINDOW_SECONDS };
  const counted = await counters.count(`widget-auth:${address}`, limit);
  if (!counted.isOver) return error;
  return tooMany("Too many calls of this address had no valid key.", secondsOf(counted.resetMs));
}
