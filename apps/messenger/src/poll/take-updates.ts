import { DeliveryError, LIMITS } from "@svc/contracts";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";
import { isUnavailable } from "@svc/store";
import type { SettledState, Store, WaitingUpdate } from "@svc/store";
import { cleanLine } from "../read/clean-text.ts";
import { BotApiError } from "../telegram/bot-api-error.ts";
import { backoffMs, waitMs } from "./wait-ms.ts";

/** What goes through the stored updates. */
export interface TakingContext {
  store: Pick<Store, "messengerUpdates">;
  log: Log;
  botId: number;
  /** Does what an update asks for, with the other parts of its album. */
  take: (parts: readonly [WaitingUpdate, ...WaitingUpdate[]], signal: AbortSignal) => Promise<SettledState>;
}

/** Goes through what waits. */
export interface Taking {
  /** There may be more. */
  wake: () => void;
  /** Resolves once the signal is aborted and nothing is being taken any more. */
  done: Promise<void>;
}

/** Conversations that are worked on at once, each in its order; many, since one that waits for a file holds up nobody. */
const AT_ONCE = 48;
/** So many heads are looked for at once, so that a long backlog is not gone through for each of them. */
const LOOK_AHEAD = 64;
/** What was put off, or was revived by an operator, is found so soon. */
const LOOK_MS = 500;
const PAUSES = { firstMs: 500, maxMs: 5_000 } as const;
/** While the Bot API, or a chat of it, is away. */
const AWAY_PAUSES = { firstMs: 1_000, maxMs: 30_000 } as const;
const FAILURE_CHARS = 500;

/** Failures of the Bot API that are none of the update's. */
const AWAY: readonly BotApiError["kind"][] = ["unreachable", "too_many", "unauthorized", "conflict"];

/** How long an update has to wait that is not to blame for its failure; null where it is. */
function awayMs(error: unknown): number | null {
  if (error instanceof DeliveryError && error.fault === "later") return error.retryAfterMs ?? AWAY_PAUSES.firstMs;
  if (error instanceof BotApiError && AWAY.includes(error.kind)) return error.retryAfterMs ?? AWAY_PAUSES.firstMs;
  return null;
}

const textOf = (error: unknown) => cleanLine(errorMessage(error), FAILURE_CHARS);

/**
 * Takes the stored updates of a bot until the signal is aborted: several conversations at once, each in its order. One
 * that fails five times is a dead letter, and its conversation goes on.
 */
export function takeUpdates({ store, log, botId, take }: TakingContext, signal: AbortSignal): Taking {
  const { messengerUpdates } = store;
  const busy = new Map<string, Promise<void>>();
  /** Failures in a row that are none of an update's, by conversation. */
  const deferrals = new Map<string, number>();
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();

  async function fail(first: WaitingUpdate, ids: number[], error: unknown): Promise<void> {
    if (isUnavailable(error)) {
      log.debug({ error }, "database unavailable; the update will be processed later");
      await waitMs(PAUSES.firstMs, signal);
      return;
    }
    const { updateId, ticketId } = first;
    if (error instanceof DeliveryError && error.fault === "closed") {
      await messengerUpdates.settle(botId, ids, "ignored");
      return;
    }
    const waitForMs = awayMs(error);
    if (waitForMs !== null) {
      const times = (deferrals.get(ticketId) ?? 0) + 1;
      deferrals.set(ticketId, times);
      const delayMs = Math.max(waitForMs, backoffMs(times, AWAY_PAUSES));
      log.debug({ updateId, failure: textOf(error) }, "update deferred");
      await messengerUpdates.retryLater(first, { delayMs, failure: textOf(error), counts: false });
      return;
    }
    const tries = first.tries + 1;
    log.warn({ error, updateId, tries }, "failed to process an update");
    if (tries >= LIMITS.maxAttempts) await messengerUpdates.bury(botId, ids, textOf(error));
    else {
      const delayMs = backoffMs(tries, PAUSES);
      await messengerUpdates.retryLater(first, { delayMs, failure: textOf(error), counts: true });
    }
  }

  async function work(head: WaitingUpdate): Promise<void> {
    let parts: [WaitingUpdate, ...WaitingUpdate[]] = [head];
    const idsOf = () => parts.map(({ updateId }) => updateId);
    try {
      if (head.isAlbum) {
        const [first, ...others] = await messengerUpdates.joinAlbum(head);
        if (first === undefined) return;
        parts = [first, ...others];
      } else if (!(await messengerUpdates.isWaiting(head))) return;
      const state = await take(parts, signal);
      await messengerUpdates.settle(botId, idsOf(), state);
      deferrals.delete(head.ticketId);
    } catch (error) {
      // What was broken off is taken again by whoever has the lease next.
      if (signal.aborted) return;
      await fail(head, idsOf(), error).catch((failure: unknown) => {
        log[isUnavailable(failure) ? "debug" : "error"]({ error: failure }, "failed to record a failed update");
      });
    }
  }

  function begin(head: WaitingUpdate): void {
    const done = work(head).finally(() => {
      busy.delete(head.ticketId);
      wake();
    });
    busy.set(head.ticketId, done);
  }

  async function run(): Promise<void> {
    let ahead: WaitingUpdate[] = [];
    while (!signal.aborted) {
      wakeUp = new AbortController();
      try {
        if (ahead.length === 0) ahead = await messengerUpdates.listHeads(botId, [...busy.keys()], LOOK_AHEAD);
        while (ahead.length > 0 && busy.size < AT_ONCE && !signal.aborted) {
          const [head] = ahead.splice(0, 1);
          if (head !== undefined && !busy.has(head.ticketId)) begin(head);
        }
      } catch (error) {
        log[isUnavailable(error) ? "debug" : "error"]({ error }, "failed to find stored updates");
      }
      await waitMs(LOOK_MS, signal, wakeUp.signal);
    }
    await Promise.all(busy.values());
  }

  return { wake: () => wake(), done: run() };
}
