import type { Queues } from "./open-queues.ts";

/** Topic of the wake-ups that say in which conversations a visitor is writing. */
const TYPING_TOPIC = "visitor-typing";

/** Notifies the consoles on every replica that the visitor of a conversation is writing. It may be lost. */
export function announceVisitorTyping(queues: Pick<Queues, "wakeUps">, ticketId: string): void {
  queues.wakeUps.send(TYPING_TOPIC, [ticketId]);
}

/** Calls `notify` with the conversations in which a visitor is writing, until the returned function is called. */
export function followVisitorTyping(
  queues: Pick<Queues, "wakeUps">,
  notify: (ticketIds: string[]) => void,
): () => void {
  return queues.wakeUps.listen(TYPING_TOPIC, notify);
}
