import type { VisitorMessage } from "@svc/contracts";
import type { FileView } from "../state.ts";
import type { Storage } from "../storage.ts";

/** A message of the visitor that the server does not have yet. */
export interface OutboxItem {
  message: VisitorMessage;
  files: FileView[];
  /** Epoch milliseconds, for display; the order is that of the list. */
  at: number;
  /**
   * Name of the string that describes the rejection; the message is then sent again only if the visitor asks for it.
   */
  fault: string | null;
}

/** The unsent messages of this tab, which survive a reload. */
export interface Outbox {
  list: () => OutboxItem[];
  /** Appends an item, or replaces the one with the same `clientMessageId`. */
  put: (item: OutboxItem) => void;
  remove: (clientMessageId: string) => void;
  /**
   * Claims the messages of closed or crashed tabs; returns the items. A lock separates concurrent tabs if the browser
   * supports locks; otherwise the server recognizes a second copy as the same message. `isWanted` is checked once the
   * lock is acquired.
   */
  adopt: (isWanted: () => boolean) => Promise<OutboxItem[]>;
  /** Releases the items for the next page, because this one is being left. */
  release: () => void;
  /** After a return to the page: keeps only the messages that no other tab has claimed meanwhile. */
  reclaim: () => void;
  /** Removes the messages of this tab. */
  drop: () => void;
  /** Removes all messages, including those of other tabs. */
  clear: () => void;
}

interface Kept {
  /** Epoch milliseconds until which its tab counts as alive; 0 after it was closed. */
  until: number;
  items: OutboxItem[];
}

const PREFIX = "out:";
const ALIVE_MS = 15_000;

/** Interval of the heartbeats of a tab with unsent messages. */
export const HEARTBEAT_MS = 5_000;

/** The used part of the browser's locks (`navigator.locks`), which are missing on pages without HTTPS. */
export type Locks = { request(name: string, work: () => void): Promise<unknown> } | null;

/**
 * Opens the outbox of the tab `tabId`. Each tab has a separate list, so that no tab sends messages that another one is
 * sending; `beat` must be called every `HEARTBEAT_MS`.
 */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function openOutbox(
  storage: Storage,
  tabId: string,
  { locks, now }: { locks: Locks; now: () => number },
): Outbox & { beat(): void } {
  const own = PREFIX + tabId;
  let items: OutboxItem[] = [];

  function save(until: number): void {
    storage.write(own, items.length === 0 ? null : ({ until, items } satisfies Kept));
  }

  const beat = () => {
    if (items.length > 0) save(now() + ALIVE_MS);
  };

  function takeOver(): OutboxItem[] {
    const taken = storage.names(PREFIX).flatMap((name) => {
      if (name === own) return [];
      const kept = storage.read(name);
      // A clock that was set back must not prevent messages from being sent.
      if (isKept(kept) && kept.until > now() && kept.until <= now() + ALIVE_MS) return [];
      storage.write(name, null);
      return isKept(kept) ? kept.items : [];
    });
    const known = new Set(items.map(({ message }) => message.clientMessageId));
    const added = taken.filter(({ message }) => !known.has(message.clientMessageId));
    if (added.length === 0) return [];
    items = [...added, ...items];
    beat();
    return added;
  }

  return {
    list: () => items,
    put(item) {
      const id = item.message.clientMessageId;
      const isKnown = items.some(({ message }) => message.clientMessageId === id);
      items = isKnown ? items.map((other) => (other.message.clientMessageId === id ? item : other)) : [...items, item];
      beat();
    },
    remove(clientMessageId) {
      items = items.filter(({ message }) => message.clientMessageId !== clientMessageId);
      save(now() + ALIVE_MS);
    },
    async adopt(isWanted) {
      if (locks === null) return takeOver();
      let taken: OutboxItem[] = [];
      await locks.request(`svc:${PREFIX}`, () => {
        if (isWanted()) taken = takeOver();
      });
      return taken;
    },
    release: () => save(0),
    reclaim() {
      const kept = storage.read(own);
      items = isKept(kept) ? kept.items : [];
      beat();
    },
    drop() {
      items = [];
      save(0);
    },
    clear() {
      items = [];
      for (const name of storage.names(PREFIX)) storage.write(name, null);
    },
    beat,
  };
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { until, items } = value as Partial<Kept>;
  return typeof until === "number" && Array.isArray(items) && items.every(isItem);
}

function isItem(item: Partial<OutboxItem> | null): boolean {
  return (
    typeof item?.message?.text === "string" &&
    typeof item.message.clientMessageId === "string" &&
    Array.isArray(item.files)
  );
}
