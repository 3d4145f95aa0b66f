import { ServiceError } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import type { Log } from "@svc/log";
import { QueueDownError, publishIncoming } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { DeadLetter, Store } from "@svc/store";

const LIST_LIMIT = 200;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The messages of the principal's project that failed five times, newest first. Scope tickets:read. */
export async function listDeadLetters({ store }: { store: Store }, principal: Principal): Promise<DeadLetter[]> {
  requireScope(principal, "tickets:read");
  return store.messages.listDeadLetters(principal.project, LIST_LIMIT);
}

/**
 * Sends a dead letter through the pipeline again, with five fresh tries. Scope tickets:write. Throws not_found when
 * the project has no such dead letter, also when somebody else has sent it again in the meantime.
 */
export async function retryDeadLetter(
  { store, queues, log }: { store: Store; queues: Queues; log: Log },
  principal: Principal,
  messageId: string,
): Promise<void> {
  requireScope(principal, "tickets:write");
  // The store takes UUIDs only, and no message has another id.
  const revived = UUID.test(messageId)
    ? await store.messages.reviveDeadLetter(principal.project, messageId, principal.actor)
    : null;
  if (revived === null)
    throw new ServiceError("not_found", "This project has no such dead letter. See: svc dead-letters list.");
  try {
    await publishIncoming(queues, [revived]);
  } catch (error) {
    if (!(error instanceof QueueDownError)) throw error;
    log.debug({ messageId }, "the sweeper will announce the message");
  }
}
