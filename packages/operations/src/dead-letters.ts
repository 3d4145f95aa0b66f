import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import type { Log } from "@svc/log";
import { publishIncoming } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { DeadLetter, DueMessage, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { noDeadLetter, reviveOne } from "./decision-rules.ts";
import { isUuid } from "./is-uuid.ts";
import { leaveToSweeper } from "./leave-to-sweeper.ts";

const LIST_LIMIT = 200;

/** The messages that failed five times, of tickets of the principal's project, newest first. Scope tickets:read. */
export async function listDeadLetters({ store }: { store: Store }, principal: Principal): Promise<DeadLetter[]> {
  requireScope(principal, "tickets:read");
  return store.messages.listDeadLetters(principal.project, LIST_LIMIT);
}

/** Decides that a dead letter is tried again; where it came in, or null when it is none. */
async function revive(
  store: Store,
  { project, actor }: Principal,
  id: string,
): Promise<Pick<DueMessage, "project" | "ticketId" | "messageId"> | null> {
  const letter = isUuid(id) ? await store.messages.findDeadLetter(project, id) : null;
  if (letter === null) return null;
  const { isOpened, ...where } = letter;
  const { ticketId, messageId } = where;
  if (!isOpened) return (await store.reviews.reviveUnopened(where.project, ticketId, messageId)) ? where : null;
  const decided = await store.reviews.decide(project, ticketId, (state) =>
    reviveOne(state, messageId, { actor, target: null }),
  );
  return decided === null ? null : where;
}

/**
 * Sends a dead letter through the pipeline again, with five fresh tries. Scope tickets:write. Throws not_found when
 * the project has no such dead letter, also when somebody else has sent it again in the meantime.
 */
export const retryDeadLetter = audited(
  "dead-letters.retry",
  async function retryDeadLetter(
    { store, queues, log }: { store: Store; queues: Queues; log: Log },
    principal: Principal,
    messageId: string,
  ): Promise<void> {
    requireScope(principal, "tickets:write");
    const revived = await revive(store, principal, messageId);
    if (revived === null) throw noDeadLetter();
    await leaveToSweeper(log, { messageId }, () => publishIncoming(queues, [{ ...revived, attempts: 0 }]));
  },
);
