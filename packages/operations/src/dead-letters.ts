import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { UPDATES_CHANNEL } from "@svc/contracts";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { DeadLetter, DueMessage, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { noDeadLetter, retryOne } from "./decision-rules.ts";
import { leaveToSweeper } from "./operation.ts";

const LIST_LIMIT = 200;

/**
 * Work that failed after five attempts: a message in the pipeline, a Telegram update that became no message, or a reply
 * that could not be sent. `messageId` is its id: for an update that of its future message, for a reply its own.
 */
interface DeadLetterItem extends DeadLetter {
  kind: "message" | "update" | "reply";
}

/**
 * Returns what failed after five attempts, newest first: messages and replies of tickets of the principal's project,
 * and stored updates of a channel that it received. Scope tickets:read.
 */
export async function listDeadLetters({ store }: { store: Store }, principal: Principal): Promise<DeadLetterItem[]> {
  requireScope(principal, "tickets:read");
  const { project } = principal;
  const [messages, updates, replies] = await Promise.all([
    store.messages.listDeadLetters(project, LIST_LIMIT),
    store.channelUpdates.listDead(project, LIST_LIMIT),
    store.outboxes.listDead(project, LIST_LIMIT),
  ]);
  return [
    ...messages.map((letter): DeadLetterItem => ({ kind: "message", ...letter })),
    ...updates.map((update): DeadLetterItem => ({ kind: "update", channelId: UPDATES_CHANNEL, ...update })),
    ...replies.map(({ replyId, ...reply }): DeadLetterItem => ({ kind: "reply", messageId: replyId, ...reply })),
  ]
    .toSorted((one, other) => other.failedAt.getTime() - one.failedAt.getTime())
    .slice(0, LIST_LIMIT);
}

/** Schedules a retry of a dead letter; returns its origin, or null if it is none. */
async function revive(
  store: Store,
  { project, actor }: Principal,
  id: string,
): Promise<Pick<DueMessage, "project" | "ticketId" | "messageId"> | null> {
  const letter = isUuid(id) ? await store.messages.findDeadLetter(project, id) : null;
  if (letter === null) return null;
  const { isOpened, ...where } = letter;
  const { ticketId, messageId } = where;
  if (!isOpened) return (await store.reviews.retryUnopened(where.project, ticketId, messageId)) ? where : null;
  const decided = await store.reviews.decide(project, ticketId, (state) =>
    retryOne(state, messageId, { actor, target: null }),
  );
  return decided === null ? null : where;
}

/**
 * Sends a dead letter through the pipeline again, with five new attempts; an update is retried by the replica that runs
 * its bot, a reply is sent by its channel. Scope tickets:write. Throws not_found if the project has no such dead
 * letter, also if it was retried meanwhile.
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
    if (revived === null) {
      const { project, actor } = principal;
      const isAgain =
        isUuid(messageId) &&
        ((await store.channelUpdates.retryDead(project, messageId)) ||
          (await store.outboxes.sendAgain(project, messageId, actor)) !== null);
      if (isAgain) return;
      throw noDeadLetter();
    }
    await leaveToSweeper(log, { messageId }, () =>
      announceWork(queues, "incoming-messages", [{ ...revived, attempts: 0 }]),
    );
  },
);
