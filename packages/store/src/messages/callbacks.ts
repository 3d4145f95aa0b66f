import type { CallbackType, MessageState } from "@svc/contracts";
import { batched } from "../batcher.ts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** A conversation that may have callbacks to make. */
export interface CallbackRef {
  project: ProjectId;
  ticketId: string;
}

/** A delivery whose job has to be published. */
export interface DueDelivery {
  project: ProjectId;
  ticketId: string;
  deliveryId: string;
  tries: number;
}

/** What the sender of a message hears when the message is in a state. */
const TYPE_OF_STATE = {
  answered: "message.completed",
  held: "message.in_review",
  rejected: "message.rejected",
  failed: "message.failed",
} as const satisfies Record<Exclude<MessageState, "received">, CallbackType>;

// The callback that a message in its present state calls for, or NULL: of messages `m` with callbacks `cb`.
const TYPE_NOW = `CASE m.state ${Object.entries(TYPE_OF_STATE)
  .map(([state, type]) => `WHEN '${state}' THEN '${type}'`)
  .join(" ")} ELSE CASE WHEN cb.timeout_at <= now() THEN 'message.timeout' END END`;

/** How long the sweeper leaves a finished message to its job. */
const SWEEP_AFTER_MS = 2_000;
/** A sealed key of a sender is forgotten after this time, whatever the result of its message. */
const SECRET_DAYS = 30;

interface RefRow {
  projectId: string;
  ticketId: string;
}

const sql = statements("messages/callbacks", {
  sweepAfterMs: SWEEP_AFTER_MS,
  secretDays: SECRET_DAYS,
  typeNow: TYPE_NOW,
});

function asRef(row: RefRow): CallbackRef {
  return { project: asProjectId(row.projectId), ticketId: row.ticketId };
}

const settleBatched = batched(
  async (db: Db, refs: CallbackRef[]) => {
    const made = await settleAll(db, refs);
    return refs.map(({ project, ticketId }) =>
      made.filter((delivery) => delivery.project === project && delivery.ticketId === ticketId),
    );
  },
  { keyOf: ({ ticketId }) => ticketId },
);

/**
 * Makes the deliveries that the news of these conversations calls for, in the order of their messages, and returns them
 * to be published. Safe to repeat: what was sent once is not sent again. Concurrent calls share a transaction.
 */
export async function settle(db: Db, refs: CallbackRef[]): Promise<DueDelivery[]> {
  return (await Promise.all(refs.map((ref) => settleBatched(db, ref)))).flat();
}

async function settleAll(db: Db, refs: CallbackRef[]): Promise<DueDelivery[]> {
  return db.transaction(async (tx) => {
    const open = await sql.lock.all<{ messageId: string }>(tx, {
      projectId: refs.map((ref) => ref.project),
      ticketId: refs.map((ref) => ref.ticketId),
    });
    if (open.length === 0) return [];
    const made = await sql.make.all<{ id: string; projectId: string; ticketId: string }>(tx, {
      messageId: open.map((row) => row.messageId),
      newId: open.map(() => newId()),
    });
    return made.map((row) => ({
      project: asProjectId(row.projectId),
      ticketId: row.ticketId,
      deliveryId: row.id,
      tries: 0,
    }));
  });
}

/**
 * Marks the messages whose time is over as news, so that their senders hear it. Returns their conversations, at most
 * `limit`.
 */
export async function markTimeouts(db: Db, limit: number): Promise<CallbackRef[]> {
  const rows = await sql.markTimeouts.all<RefRow>(db, { limit });
  return rows.map(asRef);
}

/** Conversations of all projects with news that their job has not settled in time, at most `limit`. */
export async function findUnsettled(db: Db, limit: number): Promise<CallbackRef[]> {
  const rows = await sql.findUnsettled.all<RefRow>(db, { limit });
  return rows.map(asRef);
}

/** The id of a message's final callback, or null when the project has no such message of mode webhook. */
export async function findDeliveryId(db: Db, project: ProjectId, messageId: string): Promise<string | null> {
  const row = await sql.findDeliveryId.one<{ deliveryId: string }>(db, { project, messageId });
  return row?.deliveryId ?? null;
}

/** True while the key that sent a message is kept, sealed, to sign its callbacks, and is not revoked. */
export async function hasSecret(db: Db, project: ProjectId, messageId: string): Promise<boolean> {
  return (await sql.hasSecret.run(db, { project, messageId })) > 0;
}

/** Forgets the sealed copies of keys that are revoked: they sign nothing. At most `limit`; returns how many. */
export async function eraseRevokedSecrets(db: Db, limit: number): Promise<number> {
  const count = await sql.eraseRevokedSecrets.run(db, { limit });
  return count;
}

/** Forgets sealed keys that are older than 30 days, at most `limit`; returns how many. */
export async function eraseOldSecrets(db: Db, limit: number): Promise<number> {
  const count = await sql.eraseOldSecrets.run(db, { limit });
  return count;
}
