import { announceReplies, followReplies } from "@svc/channel-manager";
import type { FinishedMessage } from "@svc/channel-manager";
import { followTexts } from "@svc/queue";
import type { Queues } from "@svc/queue";

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

/**
 * Opens the board on which the callers of this process wait for replies, and listens for the wake-ups of other replicas.
 * It wakes callers up, which then read the store; a caller whose message came with the wake-up need not.
 */
// oxlint-disable-next-line max-lines-per-function -- One board whose functions share the watchers.
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

  return {
    /** Starts to watch a chat; to be called before the message is accepted, so that no wake-up is missed. */
    watch(ticketId: string, { messageId, receivesTexts = false }: WatchOptions = {}): Watch {
      let latest: WakeReason | null = closed ? "closed" : null;
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
      const own = watchers.get(ticketId) ?? new Set();
      own.add(watcher);
      watchers.set(ticketId, own);

      return {
        finished: () => watcher.finished,
        next(limitMs) {
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
        },
        end() {
          own.delete(watcher);
          if (own.size === 0 && watchers.get(ticketId) === own) watchers.delete(ticketId);
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
      unlisten();
      unlistenTexts();
      wakeAll("closed");
    },
  };
}

export type ReplyBoard = ReturnType<typeof openReplyBoard>;
