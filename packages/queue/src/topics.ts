import type { Queues } from "./queues.ts";

/** A knowledge base or a project was deleted, or a project's retention period changed: data can be removed. */
const REMOVALS = "deletions";
/** The unfinished reply of a conversation has grown. */
const TEXTS = "unfinished-replies";
/** Operators have opened or left a ticket, or started or stopped typing there. */
const PRESENCE = "console-presence";
/** The visitor of a conversation is writing. */
const VISITOR_TYPING = "visitor-typing";

/**
 * Wakes up the sweeps that remove the content of this deleted object, the data of this project that is past its
 * retention period, or the files of people who were erased from it, on every replica. The wake-up may be lost.
 */
export function announceRemoval(queues: Pick<Queues, "wakeUps">, id: string): void {
  queues.wakeUps.send(REMOVALS, [id]);
}

/** Calls `onRemoval` after each announcement, until the returned function is called. */
export function followRemovals(queues: Pick<Queues, "wakeUps">, onRemoval: () => void): () => void {
  return queues.wakeUps.listen(REMOVALS, onRemoval);
}

/** Wakes up the streams that show the unfinished reply of a conversation, on every replica. The wake-up may be lost. */
export function announceText(queues: Queues, ticketId: string): void {
  queues.wakeUps.send(TEXTS, [ticketId]);
}

/** Calls `onText` with the conversations whose unfinished reply has grown, until the returned function is called. */
export function followTexts(queues: Pick<Queues, "wakeUps">, onText: (ticketIds: string[]) => void): () => void {
  return queues.wakeUps.listen(TEXTS, onText);
}

/** Makes every replica that shows these tickets refetch which operators are there. The wake-up may be lost. */
export function announcePresence(queues: Pick<Queues, "wakeUps">, ticketIds: string[]): void {
  queues.wakeUps.send(PRESENCE, ticketIds);
}

/**
 * Calls `notify` with the tickets on which operators have arrived, left or started typing, until the returned function
 * is called.
 */
export function followPresence(queues: Pick<Queues, "wakeUps">, notify: (ticketIds: string[]) => void): () => void {
  return queues.wakeUps.listen(PRESENCE, notify);
}

/**
 * Notifies the consoles on every replica that the visitor of a conversation is typing. The notification may be lost.
 */
export function announceVisitorTyping(queues: Pick<Queues, "wakeUps">, ticketId: string): void {
  queues.wakeUps.send(VISITOR_TYPING, [ticketId]);
}

/** Calls `notify` with the conversations in which a visitor is typing, until the returned function is called. */
export function followVisitorTyping(
  queues: Pick<Queues, "wakeUps">,
  notify: (ticketIds: string[]) => void,
): () => void {
  return queues.wakeUps.listen(VISITOR_TYPING, notify);
}
