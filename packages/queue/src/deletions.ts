import type { Queues } from "./open-queues.ts";

/** Topic of the wake-ups that say that a knowledge base or a project was deleted and its content can be removed. */
const DELETIONS_TOPIC = "deletions";

/** Wakes up the sweeps that remove the content of a deleted object, on every replica. It may be lost. */
export function announceDeletion(queues: Queues, id: string): void {
  queues.wakeUps.send(DELETIONS_TOPIC, [id]);
}

/** Calls `look` after each deletion, until the returned function is called. */
export function followDeletions(queues: Queues, look: () => void): () => void {
  return queues.wakeUps.listen(DELETIONS_TOPIC, look);
}
