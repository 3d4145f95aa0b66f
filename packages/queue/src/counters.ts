import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateLimiterAbstract } from "rate-limiter-flexible";
import type { Log } from "@svc/log";
import { toError } from "@svc/primitives";
import { isConnectionError } from "./backend.ts";
import type { CounterBackend } from "./backend.ts";

/** A caller's share of a call. */
interface Share<Result> {
  result: Result;
  /** Number of callers that share the call. */
  size: number;
  /** The caller's position among them, in the order of arrival, from 1. */
  position: number;
}

/**
 * Lets callers share calls: callers that arrive during a call of the same name share the next one. A single caller does
 * not wait. `run` gets the number of callers; all of them get its error.
 */
export function singleFlight<Result>(): (
  name: string,
  run: (size: number) => Promise<Result>,
) => Promise<Share<Result>> {
  interface Caller {
    run: (size: number) => Promise<Result>;
    resolve: (share: Share<Result>) => void;
    reject: (error: unknown) => void;
  }
  // Names with a call in progress, each with the callers that wait for the next one.
  const waiting = new Map<string, Caller[]>();

  async function work(name: string): Promise<void> {
    for (let callers = waiting.get(name); callers?.[0] !== undefined; callers = waiting.get(name)) {
      waiting.set(name, []);
      const size = callers.length;
      try {
        const result = await callers[0].run(size);
        for (const [index, { resolve }] of callers.entries()) resolve({ result, size, position: index + 1 });
      } catch (error) {
        for (const { reject } of callers) reject(error);
      }
    }
    waiting.delete(name);
  }

  return (name, run) =>
    new Promise((resolve, reject) => {
      const caller = { run, resolve, reject };
      const others = waiting.get(name);
      if (others !== undefined) {
        others.push(caller);
        return;
      }
      waiting.set(name, [caller]);
      void work(name);
    });
}

/** Maximum number of events in a window of time, which begins with the first event. */
export interface CountLimit {
  /** At least 1. */
  limit: number;
  /** At least 1, a whole number. */
  windowSeconds: number;
}

/** Current state of a counter. */
export interface CounterState {
  /** Number of further events allowed in this window. */
  remaining: number;
  /** Milliseconds until the window ends. */
  resetMs: number;
}

/** Result of counting an event. */
export interface CountResult extends CounterState {
  /** True if this event exceeds the limit. */
  isOver: boolean;
}

/**
 * Counters that all processes share. While the queue server is unavailable or slow, each process counts in memory,
 * starting from the last total that it knows: no call rejects or waits for long.
 */
export interface Counters {
  /**
   * Counts an event. Events over the limit are not counted and cost no round trip until the window ends. The name
   * contains no secret, and is always used with the same window.
   */
  count(name: string, limit: CountLimit): Promise<CountResult>;
  /** Returns the state of the counter without counting. */
  peek(name: string, limit: CountLimit): Promise<CounterState>;
}

/** Timeout of a call to the server. */
const RESPONSE_TIMEOUT_MS = 250;
/** Pause after an error, so that an outage costs one slow call and not all of them. */
const PAUSE_MS = 1_000;

/** The server did not respond in time. */
class SlowResponseError extends Error {
  constructor() {
    super(`no response within ${RESPONSE_TIMEOUT_MS} ms`);
    this.name = "SlowResponseError";
  }
}

/** Creates the counters of a process. All their names begin with the prefix. */
// oxlint-disable-next-line max-lines-per-function -- One set of counters whose functions share its state.
export function createCounters(backend: CounterBackend, { prefix, log }: { prefix: string; log: Log }): Counters {
  // The library has one limiter for each limit; limiters with the same window share their counts.
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

  /** Calls the server, and falls back to the memory of this process if the call fails. */
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
        // The backend reports its lost connections itself.
        const isOutage = error instanceof SlowResponseError || !backend.isUp() || isConnectionError(error);
        if (isFirst)
          log[isOutage ? "debug" : "warn"]({ error }, "rate limits are temporarily counted in this process only");
      }
    }
    return call(own);
  }

  /**
   * Returns what this process remembers of a counter that is over its limit, until the window ends; null for all
   * others.
   */
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
    // What this process counted while the server was slow remains counted within the same window.
    const isSameWindow = before !== null && Math.abs(before.msBeforeNext - resetMs) < (limit.windowSeconds * 1_000) / 2;
    const total = isSameWindow ? Math.max(counted, before.consumedPoints + times) : counted;
    await own.set(name, total, resetMs / 1_000);
    return { total, resetMs };
  }

  const shareAdd = singleFlight<Total>();

  return {
    async count(name, limit) {
      // Concurrent counts of one counter share two round trips, and do not queue for its row.
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

/** Total of a counter, and when its window ends. */
interface Total {
  total: number;
  resetMs: number;
}

/** Adds `times` to a counter; exceeding the limit is not an error here. */
async function consume(limiter: RateLimiterAbstract, name: string, times: number): Promise<Total> {
  const result = await limiter.consume(name, times).catch((error: unknown) => {
    // The library rejects with a result if the limit is exceeded, and with an error if something is wrong.
    if (error instanceof RateLimiterRes) return error;
    throw error;
  });
  return { total: result.consumedPoints, resetMs: result.msBeforeNext };
}

/** Resolves as the given promise does; rejects with SlowResponseError after a timeout. */
function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // If this process itself was busy for that long, it still reads what has arrived before it times out.
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
