/** What made a watch return: something may be there, its time is over, or the process stops. */
export type News = "look" | "timeout" | "closed";

/** Watches one conversation for a caller that waits. */
export interface Watch {
  /** Resolves at the next sign of something new, at once when there was one since the last call. */
  next(limitMs: number): Promise<News>;
  /** Ends the watch; a `next` that waits answers "closed". Safe to call twice. */
  end(): void;
}

interface Watcher {
  /** The message whose reply is waited for; null for whoever takes any reply of the chat. */
  messageId: string | null;
  /** True for whoever shows a reply while it is being made. */
  hearsTexts: boolean;
  wake(news: News): void;
}

/** A wake-up may be lost, so everyone who waits looks again after this time anyhow. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Where callers wait for replies in this process. It knows no reply: it only says "look", and the caller then reads
 * the store, which is the truth.
 */
export function createReplyBoard() {
  const watchers = new Map<string, Set<Watcher>>();
  let closed = false;
  const ticker = setInterval(() => {
    for (const own of watchers.values()) for (const watcher of own) watcher.wake("look");
  }, LOOK_AGAIN_MS);
  ticker.unref();

  return {
    /**
     * Begins to watch a conversation. To be called before the message is accepted, so that no sign is missed. With
     * `hearsTexts` also for what an unfinished reply says so far.
     */
    watch(ticketId: string, { hearsTexts = false } = {}): Watch & { waitFor(messageId: string): void } {
      let news: News | null = closed ? "closed" : null;
      let waiting: ((news: News) => void) | null = null;
      const watcher: Watcher = {
        messageId: null,
        hearsTexts,
        wake(latest) {
          if (news !== "closed") news = latest;
          waiting?.(news ?? latest);
        },
      };
      const own = watchers.get(ticketId) ?? new Set();
      own.add(watcher);
      watchers.set(ticketId, own);

      return {
        waitFor(messageId) {
          watcher.messageId = messageId;
        },
        next(limitMs) {
          if (news !== null) {
            const latest = news;
            if (news !== "closed") news = null;
            return Promise.resolve(latest);
          }
          return new Promise((resolve) => {
            const timer = setTimeout(() => waiting?.("timeout"), Math.max(0, limitMs));
            waiting = (latest) => {
              waiting = null;
              clearTimeout(timer);
              if (news !== "closed") news = null;
              resolve(latest);
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

    /** Wakes whoever watches a conversation here; true when one of them waits for the reply to just this message. */
    wake(ticketId: string, messageId?: string): boolean {
      let isWanted = false;
      for (const watcher of watchers.get(ticketId) ?? []) {
        if (messageId !== undefined && watcher.messageId === messageId) isWanted = true;
        watcher.wake("look");
      }
      return isWanted;
    },

    /** Wakes whoever shows the unfinished reply of a conversation here. */
    wakeForText(ticketId: string): void {
      for (const watcher of watchers.get(ticketId) ?? []) if (watcher.hearsTexts) watcher.wake("look");
    },

    /** How many callers wait. */
    count(): number {
      let count = 0;
      for (const own of watchers.values()) count += own.size;
      return count;
    },

    /** Ends every wait, now and from now on. */
    close(): void {
      closed = true;
      clearInterval(ticker);
      for (const own of watchers.values()) for (const watcher of own) watcher.wake("closed");
    },
  };
}

export type ReplyBoard = ReturnType<typeof createReplyBoard>;
