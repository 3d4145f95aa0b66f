import type { Log } from "@svc/log";
import { toError } from "@svc/primitives";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateLimiterAbstract } from "rate-limiter-flexible";
import { isConnectionError } from "./backend.ts";
import type { CounterBackend } from "./backend.ts";
import { singleFlight } from "./single-flight.ts";

/** How often something may happen in a window of time, which begins with the first time. */
export interface CountLimit {
  /** At least 1. */
  limit: number;
  /** At least 1, a whole number. */
  windowSeconds: number;
}

/** Where a counter stands. */
export interface CounterState {
  /** How many more times are left in this window. */
  remaining: number;
  /** Until the window ends. */
  resetMs: number;
}

/** What came of counting once more. */
export interface Counted extends CounterState {
  /** True when this time was one too many. */
  isOver: boolean;
}

/**
 * Counters that all processes share. While the server of the queues is away or slow, each process counts by itself in
 * memory, from the last total that it knows: nothing here rejects, and nobody waits for long.
 */
export interface Counters {
  /**
   * Counts one more time. What is over its limit is not counted further, and costs no round trip until the window
   * ends. The name holds no secret, and is always used with the same window.
   */
  count(name: string, limit: CountLimit): Promise<Counted>;
  /** Where the counter stands, without counting. */
  peek(name: string, limit: CountLimit): Promise<CounterState>;
}

/** How long a response of the server is waited for. */
const RESPONSE_TIMEOUT_MS = 250;
/** How long the server is not called after an error, so that it costs one slow call and not all of them. */
const PAUSE_MS = 1_000;

/** The server did not respond in time. */
class SlowResponseError extends Error {
  constructor() {
    super(`no response within ${RESPONSE_TIMEOUT_MS} ms`);
    this.name = "SlowResponseError";
  }
}

/** Makes the counters of a process. The names of all of them begin with the prefix. */
// oxlint-disable-next-line max-lines-per-function -- One set of counters whose functions share its state.
export function createCounters(backend: CounterBackend, { prefix, log }: { prefix: string; log: Log }): Counters {
  // The library has one limiter for each limit; those of one window share what they count.
  const limiters = new Map<string, { shared: RateLimiterAbstract; own: RateLimiterAbstract }>();
  let pausedUntil = 0;

  function limitersOf({ limit, windowSeconds }: CountLimit) {
    const name = `${limit}/${windowSeconds}`;
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const common = { keyPrefix: `${prefix}/count`, points: limit, duration: windowSeconds };
    const made = { shared: backend.makeLimiter(common), own: new RateLimiterMemory(common) };
    limiters.set(name, made);
    return made;
  }

  /** Asks the server, and the memory of this process where that fails. */
  async function ask<Answer>(
    limit: CountLimit,
    call: (limiter: RateLimiterAbstract) => Promise<Answer>,
  ): Promise<Answer> {
    const { shared, own } = limitersOf(limit);
    if (backend.isUp() && performance.now() >= pausedUntil) {
      try {
        return await inTime(call(shared));
      } catch (error) {
        const isFirst = performance.now() >= pausedUntil;
        pausedUntil = performance.now() + PAUSE_MS;
        // That the server is away is reported where its connections are.
        const isOutage = error instanceof SlowResponseError || !backend.isUp() || isConnectionError(error);
        if (isFirst)
          log[isOutage ? "debug" : "warn"]({ error }, "rate limits are temporarily counted in this process only");
      }
    }
    return call(own);
  }

  /** What this process remembers of a counter that is over its limit, until the window ends; null for all others. */
  async function recall(name: string, limit: CountLimit): Promise<Total | null> {
    const known = await limitersOf(limit).own.get(name);
    if (known === null || known.consumedPoints <= limit.limit || known.msBeforeNext <= 0) return null;
    return { total: known.consumedPoints, resetMs: known.msBeforeNext };
  }

  async function add(name: string, limit: CountLimit, times: number): Promise<Total> {
    const over = await recall(name, limit);
    if (over !== null) return { ...over, total: over.total + times };
    const { own } = limitersOf(limit);
    const before = await own.get(name);
    const { total: counted, resetMs } = await ask(limit, (limiter) => consume(limiter, name, times));
    // What this process has counted while the server was slow stays counted in the window that it belongs to.
    const isSameWindow = before !== null && Math.abs(before.msBeforeNext - resetMs) < (limit.windowSeconds * 1_000) / 2;
    const total = isSameWindow ? Math.max(counted, before.consumedPoints + times) : counted;
    await own.set(name, total, resetMs / 1_000);
    return { total, resetMs };
  }

  const shareAdd = singleFlight<Total>();

  return {
    async count(name, limit) {
      // A burst on one counter costs two round trips, and does not queue up at its row.
      const { result, size, position } = await shareAdd(`${limit.limit}/${limit.windowSeconds}/${name}`, (times) =>
        add(name, limit, times),
      );
      const remaining = limit.limit - (result.total - size + position);
      return { isOver: remaining < 0, remaining: Math.max(remaining, 0), resetMs: result.resetMs };
    },

    async peek(name, limit) {
      const over = await recall(name, limit);
      if (over !== null) return { remaining: 0, resetMs: over.resetMs };
      const found = await ask(limit, (limiter) => limiter.get(name));
      return found === null
        ? { remaining: limit.limit, resetMs: limit.windowSeconds * 1_000 }
        : { remaining: found.remainingPoints, resetMs: Math.max(found.msBeforeNext, 0) };
    },
  };
}

/** What a counter has come to, and when its window ends. */
interface Total {
  total: number;
  resetMs: number;
}

/** Counts so many times; being over the limit is no error here. */
async function consume(limiter: RateLimiterAbstract, name: string, times: number): Promise<Total> {
  const result = await limiter.consume(name, times).catch((error: unknown) => {
    // The library rejects with a result where the limit is used up, and with an error where something is wrong.
    if (error instanceof RateLimiterRes) return error;
    throw error;
  });
  return { total: result.consumedPoints, resetMs: result.msBeforeNext };
}

/** The answer, or SlowResponseError when there is none in time. */
function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // A process that was busy for so long itself still reads what has come in meanwhile, before it gives up.
    const timer = setTimeout(() => setImmediate(() => reject(new SlowResponseError())), RESPONSE_TIMEOUT_MS);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(toError(error));
      },
    );
  });
}
