import type { Log } from "@svc/log";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateLimiterAbstract, RateLimiterStoreAbstract } from "rate-limiter-flexible";
import { isConnectionFault } from "./is-connection-fault.ts";

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
 * memory: nothing here rejects, or takes longer than a quarter of a second.
 */
export interface Counters {
  /**
   * Counts one more time. What is over its limit is not counted further, and costs no round trip until the window
   * ends. The name holds no secret, and is always used with the same window.
   */
  count(name: string, limit: CountLimit): Promise<Counted>;
  /** Where the counter stands, without counting. */
  look(name: string, limit: CountLimit): Promise<CounterState>;
}

/** What makes a limiter on the server of the queues. */
export interface LimiterOptions {
  keyPrefix: string;
  points: number;
  /** In seconds. */
  duration: number;
  inMemoryBlockOnConsumed: number;
}

/** An answer that takes longer is not waited for. */
const PATIENCE_MS = 250;
/** After a fault the server is left alone for so long, so that it costs one slow call and not all of them. */
const ALONE_MS = 1_000;

/** A server that does not answer in time. */
class SlowAnswerError extends Error {
  constructor() {
    super(`no answer within ${PATIENCE_MS} ms`);
    this.name = "SlowAnswerError";
  }
}

/** Makes the counters of a process. `makeLimiter` makes the library's limiter for the server of the queues. */
export function createCounters(options: {
  prefix: string;
  makeLimiter: (options: LimiterOptions) => RateLimiterStoreAbstract;
  log: Log;
}): Counters {
  const { prefix, makeLimiter, log } = options;
  // The library has one limiter for each limit; those of one window share what they count.
  const limiters = new Map<string, { shared: RateLimiterAbstract; own: RateLimiterAbstract }>();
  let aloneUntil = 0;

  function limitersOf({ limit, windowSeconds }: CountLimit) {
    const name = `${limit}/${windowSeconds}`;
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const common = { keyPrefix: `${prefix}/count`, points: limit, duration: windowSeconds };
    const made = {
      shared: makeLimiter({ ...common, inMemoryBlockOnConsumed: limit }),
      own: new RateLimiterMemory(common),
    };
    limiters.set(name, made);
    return made;
  }

  /** Asks the server, and the memory of this process where that fails. */
  async function ask<Answer>(
    limit: CountLimit,
    call: (limiter: RateLimiterAbstract) => Promise<Answer>,
  ): Promise<Answer> {
    const { shared, own } = limitersOf(limit);
    if (performance.now() >= aloneUntil) {
      try {
        return await inTime(call(shared));
      } catch (error) {
        const isFirst = performance.now() >= aloneUntil;
        aloneUntil = performance.now() + ALONE_MS;
        // That the server is away is reported where its connections are.
        const isAway = error instanceof SlowAnswerError || isConnectionFault(error);
        if (isFirst) log[isAway ? "debug" : "warn"]({ error }, "counting in this process alone for a moment");
      }
    }
    return call(own);
  }

  return {
    count: (name, limit) =>
      ask(limit, async (limiter) => {
        try {
          const { remainingPoints, msBeforeNext } = await limiter.consume(name);
          return { isOver: false, remaining: remainingPoints, resetMs: msBeforeNext };
        } catch (error) {
          // The library rejects with a result where the limit is used up, and with an error where something is wrong.
          if (!(error instanceof RateLimiterRes)) throw error;
          return { isOver: true, remaining: 0, resetMs: error.msBeforeNext };
        }
      }),

    look: (name, limit) =>
      ask(limit, async (limiter) => {
        const found = await limiter.get(name);
        return found === null
          ? { remaining: limit.limit, resetMs: limit.windowSeconds * 1_000 }
          : { remaining: found.remainingPoints, resetMs: Math.max(found.msBeforeNext, 0) };
      }),
  };
}

/** The answer, or SlowAnswerError when there is none in time. */
function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // A process that was busy for so long itself still reads what has come in meanwhile, before it gives up.
    const timer = setTimeout(() => setImmediate(() => reject(new SlowAnswerError())), PATIENCE_MS);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
