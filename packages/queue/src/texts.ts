import type { Queues } from "./open-queues.ts";

/** Topic of the wake-ups that say in which conversations an unfinished reply has grown. */
const TEXTS_TOPIC = "unfinished-replies";

/** Tells whoever shows the unfinished reply of a conversation, on every replica, to look. It may be lost. */
export function announceText(queues: Queues, ticketId: string): void {
  queues.wakeUps.send(TEXTS_TOPIC, [ticketId]);
}

/** Calls `look` with the conversations whose unfinished reply has grown, until the answer is called. */
export function followTexts(queues: Pick<Queues, "wakeUps">, look: (ticketIds: string[]) => void): () => void {
  return queues.wakeUps.listen(TEXTS_TOPIC, look);
}
