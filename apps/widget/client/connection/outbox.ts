import type { VisitorMessage } from "@svc/contracts";
import type { FileView } from "../state.ts";
import type { Storage } from "../storage.ts";

/** A message of the visitor that the server does not have yet. */
export interface OutboxItem {
  message: VisitorMessage;
  files: FileView[];
  /** Epoch milliseconds, to show; the order is that of the list. */
  at: number;
  /** Name of the string that says why it was refused; it is then sent again only when the visitor asks. */
  fault: string | null;
}

/** The messages of this tab that are still to be sent, kept over a reload. */
export interface Outbox {
  list: () => OutboxItem[];
  /** Puts an item at the end, or in the place of the one with its `clientMessageId`. */
  put: (item: OutboxItem) => void;
  remove: (clientMessageId: string) => void;
  /**
   * Takes over what tabs have left that are closed or have crashed; answers the items. Two tabs that do so at once
   * are kept apart by a lock where the browser has locks; else the server takes the second copy for the same message.
   * `isWanted` is asked once the lock is there.
   */
  adopt: (isWanted: () => boolean) => Promise<OutboxItem[]>;
  /** Leaves the items to the next page; this one is being left. */
  release: () => void;
  /** After a return to the page: keeps only the messages that no other tab has claimed meanwhile. */
  reclaim: () => void;
  /** Removes what this tab has. */
  drop: () => void;
  /** Removes everything, that of other tabs too. */
  clear: () => void;
}

interface Kept {
  /** Epoch milliseconds up to when its tab is surely alive; 0 when it has gone. */
  until: number;
  items: OutboxItem[];
}

const PREFIX = "out:";
const ALIVE_MS = 15_000;

/** How often a tab with unsent messages says that it lives. */
export const HEARTBEAT_MS = 5_000;

/** What is needed of the browser's locks (`navigator.locks`), which are missing on pages without HTTPS. */
export type Locks = { request(name: string, work: () => void): Promise<unknown> } | null;

/**
 * The outbox of the tab `tabId`. Each tab keeps a list of its own, so that no tab sends what another one is sending;
 * `beat` has to be called every `HEARTBEAT_MS`.
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
      // A clock that was set back must not keep messages from being sent.
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
