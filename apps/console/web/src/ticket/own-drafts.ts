import type { KeptTexts } from "../app/safe-storage.ts";

/** How something that is written is meant. */
export const COMPOSE_MODES = ["reply", "edit", "note"] as const;
export type ComposeMode = (typeof COMPOSE_MODES)[number];

/** What somebody has begun to write for a ticket. */
export interface OwnDraft {
  mode: ComposeMode;
  text: string;
}

/** So many unfinished texts are kept, the last written. */
const MAX_COUNT = 200;
const PREFIX = "console.draft.";

const isMode = (value: unknown): value is ComposeMode => COMPOSE_MODES.some((mode) => mode === value);

/** The unfinished texts of one operator in this browser. */
export function openOwnDrafts(storage: KeptTexts, operatorId: string) {
  const prefix = `${PREFIX}${operatorId}.`;
  function read(key: string): (OwnDraft & { at: number }) | null {
    try {
      const kept = JSON.parse(storage.getItem(key) ?? "null") as Partial<OwnDraft & { at: number }> | null;
      if (typeof kept?.text !== "string" || !isMode(kept.mode)) return null;
      return { mode: kept.mode, text: kept.text, at: kept.at ?? 0 };
    } catch {
      // Somebody else's text is no draft.
      return null;
    }
  }
  return {
    /** What was begun for a ticket; null where nothing was. */
    find: (ticketId: string): OwnDraft | null => read(prefix + ticketId),
    /** Keeps what is written; an empty text is forgotten. */
    keep(ticketId: string, draft: OwnDraft, nowMs = Date.now()): void {
      const key = prefix + ticketId;
      if (draft.text.trim() === "") return storage.removeItem(key);
      storage.setItem(key, JSON.stringify({ ...draft, at: nowMs }));
      const keys = storage.keys().filter((other) => other.startsWith(prefix));
      if (keys.length <= MAX_COUNT) return;
      const oldest = keys.map((other) => ({ other, at: read(other)?.at ?? 0 })).sort((a, b) => a.at - b.at);
      for (const { other } of oldest.slice(0, keys.length - MAX_COUNT)) storage.removeItem(other);
    },
    forget: (ticketId: string): void => storage.removeItem(prefix + ticketId),
  };
}
export type OwnDrafts = ReturnType<typeof openOwnDrafts>;
