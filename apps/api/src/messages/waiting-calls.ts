import { announceReplies, followReplies } from "@svc/channel-manager";
import type { FinishedMessage } from "@svc/channel-manager";
import type { Log } from "@svc/log";
import { followTexts } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { ALIVE_MS, newId } from "@svc/store";
import type { Store } from "@svc/store";
import { msUntilTick } from "@svc/work";

/** Why a watch returned: there may be something new, its time is over, or it has ended. */
export type WakeReason = "poll" | "timeout" | "closed";

/** Watches one chat for a waiting caller. */
export interface Watch {
  /** The message that the caller waits for, if it has been finished and its replies came with a wake-up; else null. */
  finished(): FinishedMessage | null;
  /** Resolves at the next wake-up, immediately if there was one since the last call. */
  next(limitMs: number): Promise<WakeReason>;
  /** Ends the watch; a pending `next` returns "closed". Safe to call twice. */
  end(): void;
}

interface Watcher {
  /** The message whose reply the caller waits for; null for a caller that accepts any reply of the chat. */
  messageId: string | null;
  /** True for a caller that shows a reply while it is being made. */
  receivesTexts: boolean;
  finished: FinishedMessage | null;
  wake(reason: WakeReason): void;
}

/** What a caller waits for. */
interface WatchOptions {
  /** The message whose reply it waits for; any reply of the chat if absent. */
  messageId?: string;
  /** True to wake up also when an unfinished reply has grown. */
  receivesTexts?: boolean;
}

/** A wake-up may be lost, so every waiting caller also polls at this interval. */
const POLL_MS = 1_000;

/** Creates a watcher, and the function that waits for its next wake-up. */
function createWatcher({ messageId, receivesTexts = false }: WatchOptions, isClosed: boolean) {
  let latest: WakeReason | null = isClosed ? "closed" : null;
  let waiting: ((reason: WakeReason) => void) | null = null;
  const watcher: Watcher = {
    messageId: messageId ?? null,
    receivesTexts,
    finished: null,
    wake(reason) {
      if (latest !== "closed") latest = reason;
      waiting?.(latest ?? reason);
    },
  };
  function next(limitMs: number): Promise<WakeReason> {
    if (latest !== null) {
      const reason = latest;
      if (latest !== "closed") latest = null;
      return Promise.resolve(reason);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiting?.("timeout"), Math.max(0, limitMs));
      waiting = (reason) => {
        waiting = null;
        clearTimeout(timer);
        if (latest !== "closed") latest = null;
        resolve(reason);
      };
    });
  }
  return { watcher, next };
}

/** Adds a watcher of a chat; the returned function removes it. */
function addWatcher(watchers: Map<string, Set<Watcher>>, ticketId: string, watcher: Watcher): () => void {
  const own = watchers.get(ticketId) ?? new Set();
  own.add(watcher);
  watchers.set(ticketId, own);
  return () => {
    own.delete(watcher);
    if (own.size === 0 && watchers.get(ticketId) === own) watchers.delete(ticketId);
  };
}

/** Passes the wake-ups of other replicas on to the watchers, until the returned function is called. */
function followWakeUps(
  queues: Pick<Queues, "wakeUps">,
  watchers: ReadonlyMap<string, ReadonlySet<Watcher>>,
  wake: (ticketId: string) => void,
): () => void {
  const unlisten = followReplies(
    queues,
    (ticketId, finished) => {
      for (const watcher of watchers.get(ticketId) ?? []) {
        watcher.finished = finished.find(({ messageId }) => messageId === watcher.messageId) ?? watcher.finished;
      }
      wake(ticketId);
    },
    (ticketId) => watchers.has(ticketId),
  );
  const unlistenTexts = followTexts(queues, (ids) => {
    for (const id of ids) {
      for (const watcher of watchers.get(id) ?? []) if (watcher.receivesTexts) watcher.wake("poll");
    }
  });
  return () => {
    unlisten();
    unlistenTexts();
  };
}

/**
 * Opens the board on which the callers of this process wait for replies, and listens for the wake-ups of other replicas.
 * It wakes callers up, which then read the store; a caller whose message came with the wake-up need not.
 */
export function openReplyBoard(queues: Pick<Queues, "wakeUps">) {
  const watchers = new Map<string, Set<Watcher>>();
  let closed = false;

  /** Wakes up the callers of this process that wait in a chat; true if one of them waits for the reply to `messageId`. */
  function wake(ticketId: string, messageId?: string): boolean {
    let isAwaited = false;
    for (const watcher of watchers.get(ticketId) ?? []) {
      if (messageId !== undefined && watcher.messageId === messageId) isAwaited = true;
      watcher.wake("poll");
    }
    return isAwaited;
  }

  function wakeAll(reason: WakeReason): void {
    for (const own of watchers.values()) for (const watcher of own) watcher.wake(reason);
  }

  const ticker = setInterval(() => wakeAll("poll"), POLL_MS);
  ticker.unref();
  const unfollow = followWakeUps(queues, watchers, wake);

  return {
    /** Starts to watch a chat; to be called before the message is accepted, so that no wake-up is missed. */
    watch(ticketId: string, options: WatchOptions = {}): Watch {
      const { watcher, next } = createWatcher(options, closed);
      const remove = addWatcher(watchers, ticketId, watcher);
      return {
        finished: () => watcher.finished,
        next,
        end() {
          remove();
          watcher.wake("closed");
        },
      };
    },

    wake,

    /** Announces new replies of a chat to its waiting callers, also to those of other replicas. */
    notify(ticketId: string, messageId?: string): void {
      if (!wake(ticketId, messageId)) announceReplies(queues, ticketId);
    },

    /** Number of waiting callers. */
    count(): number {
      return [...watchers.values()].reduce((sum, own) => sum + own.size, 0);
    },

    /** Ends every wait, now and in the future. */
    close(): void {
      closed = true;
      clearInterval(ticker);
      unfollow();
      wakeAll("closed");
    },
  };
}

export type ReplyBoard = ReturnType<typeof openReplyBoard>;

/** Interval of heartbeats; the reports of the process's channels share their statement. */
export const HEARTBEAT_INTERVAL_MS = 1_000;
/** Interval while the store is unavailable: shorter, so that the heartbeat is stored soon after it recovers. */
const RETRY_MS = 200;
/** Time between a read of the store and the response that is made from it. */
const MARGIN_MS = 1_000;

/** The heartbeat of this process, which holds the calls of waiting callers. */
export interface Heartbeat {
  instance: string;
  /**
   * True while every other process counts this one as alive, so that the replies that it reads for its calls are
   * reserved for them. False after a long pause or an outage of the store: others may have claimed the replies.
   */
  isLeaseFresh(): boolean;
  /** True if the lease has been fresh without interruption since this time of the process's clock, in milliseconds. */
  isLeaseFreshSince(since: number): boolean;
  /** Renews a lease that is not fresh, before this process claims replies that others could claim as well. */
  ensureAlive(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the heartbeat of this process, once a second. Replies that its calls have read stay reserved for them while it
 * lives. If it dies, they return to the buffer: within four seconds if another process has been running all the time.
 */
export async function startHeartbeat(store: Pick<Store, "instances">, log: Log): Promise<Heartbeat> {
  const instance = newId();
  let freshUntil = 0;
  /** When the lease became fresh after it last was not. */
  let freshSince = Infinity;
  const beat = async () => {
    const startedAt = performance.now();
    await store.instances.beat(instance, "api");
    // Others may have counted this process as dead in between.
    if (performance.now() >= freshUntil) freshSince = performance.now();
    freshUntil = Math.max(freshUntil, startedAt + ALIVE_MS - MARGIN_MS);
  };
  await beat();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();
  const beatAndSchedule = async () => {
    let hasFailed = false;
    try {
      await beat();
    } catch (error) {
      hasFailed = true;
      log.debug({ error }, "failed to renew this process's heartbeat");
    }
    if (!stopped) schedule(hasFailed ? RETRY_MS : msUntilTick(HEARTBEAT_INTERVAL_MS));
  };
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      beating = beatAndSchedule();
    }, ms);
    timer.unref();
  };
  schedule(msUntilTick(HEARTBEAT_INTERVAL_MS));
  return {
    instance,
    isLeaseFresh: () => performance.now() < freshUntil,
    isLeaseFreshSince: (since) => performance.now() < freshUntil && freshSince <= since,
    async ensureAlive() {
      if (performance.now() >= freshUntil) await beat();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      // A heartbeat in flight would insert the row again.
      await beating;
      await store.instances.end(instance);
    },
  };
}
