import type { CallbackTarget, CallbackType, MessageState } from "@svc/contracts";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import type { DueDelivery } from "./deliveries.ts";

/** Returns a callback's target with the names of its columns. */
export function callbackJson({ url, apiKeyId, sealedSecret, deliveryId, timeoutMs }: CallbackTarget): string {
  return JSON.stringify({
    url,
    api_key_id: apiKeyId,
    sealed_secret: sealedSecret?.sealed ?? null,
    delivery_id: deliveryId,
    timeout_ms: timeoutMs,
  });
}

/** A conversation that may need callbacks. */
export interface CallbackRef {
  project: ProjectId;
  ticketId: string;
}

/** Type of the callback for each state of a message. */
const TYPE_OF_STATE = {
  answered: "message.completed",
  held: "message.in_review",
  rejected: "message.rejected",
  failed: "message.failed",
} as const satisfies Record<Exclude<MessageState, "received">, CallbackType>;

// SQL: the callback that a message needs in its current state, or NULL, for messages `m` with callbacks `cb`.
const TYPE_NOW = `CASE m.state ${Object.entries(TYPE_OF_STATE)
  .map(([state, type]) => `WHEN '${state}' THEN '${type}'`)
  .join(" ")} ELSE CASE WHEN cb.timeout_at <= now() THEN 'message.timeout' END END`;

/** Delay after which the sweeper processes a finished message whose job was lost. */
const SWEEP_AFTER_MS = 2_000;
/** Retention of a sender's sealed key, whatever the result of its message. */
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

const createDueBatched = batched(
  async (db: Db, refs: CallbackRef[]) => {
    const made = new Map<string, DueDelivery[]>(refs.map(({ ticketId }) => [ticketId, []]));
    for (const delivery of await createAllDue(db, refs)) made.get(delivery.ticketId)?.push(delivery);
    return refs.map(({ ticketId }) => {
      // Of several calls for a conversation, only the first gets its deliveries and announces them.
      const own = made.get(ticketId) ?? [];
      made.delete(ticketId);
      return own;
    });
  },
  { keyOf: ({ ticketId }) => ticketId },
);

/**
 * Creates the deliveries that the changes of these conversations require, in the order of their messages, and returns
 * them to be published. Safe to repeat: nothing is sent twice. Concurrent calls share a statement.
 */
async function createDueDeliveries(db: Db, refs: CallbackRef[]): Promise<DueDelivery[]> {
  return (await Promise.all(refs.map((ref) => createDueBatched(db, ref)))).flat();
}

/** Without a made delivery, the columns of one are null. */
type MadeRow = Record<"id" | "projectId" | "ticketId", string | null> & { needed: number; isMoved: boolean };

/** Creates the due deliveries of these conversations, with `count` new ids; again if there are more messages. */
async function createAllDue(db: Db, refs: readonly CallbackRef[], count = 2 * refs.length): Promise<DueDelivery[]> {
  const rows = await sql.make.all<MadeRow>(db, {
    projectId: refs.map((ref) => ref.project),
    ticketId: refs.map((ref) => ref.ticketId),
    newId: Array.from({ length: count }, () => newId()),
  });
  const made = rows.flatMap(({ id, projectId, ticketId }) =>
    id === null || projectId === null || ticketId === null
      ? []
      : [{ project: asProjectId(projectId), ticketId, deliveryId: id, tries: 0 }],
  );
  const { needed = 0, isMoved = false } = rows[0] ?? {};
  if (needed <= count && !isMoved) return made;
  // If this fails, the sweeper announces what is made.
  return [...made, ...(await createAllDue(db, refs, Math.max(count, needed)))];
}

/**
 * Marks messages whose timeout has passed as changed, so that their senders are notified. Returns their conversations,
 * at most `limit`.
 */
async function markTimeouts(db: Db, limit: number): Promise<CallbackRef[]> {
  const rows = await sql.markTimeouts.all<RefRow>(db, { limit });
  return rows.map(asRef);
}

/** Returns conversations of all projects with changes that their job has not processed in time, at most `limit`. */
async function findUnsettled(db: Db, limit: number): Promise<CallbackRef[]> {
  const rows = await sql.findUnsettled.all<RefRow>(db, { limit });
  return rows.map(asRef);
}

/** Returns the id of a message's final callback, or null if the project has no such message of mode webhook. */
async function findDeliveryId(db: Db, project: ProjectId, messageId: string): Promise<string | null> {
  const row = await sql.findDeliveryId.one(db, { project, messageId });
  return row?.deliveryId ?? null;
}

/** Returns true while the sealed key of a message's sender is stored to sign its callbacks, and is not revoked. */
async function hasSecret(db: Db, project: ProjectId, messageId: string): Promise<boolean> {
  return (await sql.hasSecret.run(db, { project, messageId })) > 0;
}

/** Deletes the sealed copies of revoked keys, which sign nothing. At most `limit`; returns how many. */
const eraseRevokedSecrets = (db: Db, limit: number): Promise<number> => sql.eraseRevokedSecrets.run(db, { limit });

/** Deletes sealed keys that are older than 30 days, at most `limit`; returns how many. */
const eraseOldSecrets = (db: Db, limit: number): Promise<number> => sql.eraseOldSecrets.run(db, { limit });

/** Functions of `store.callbacks`. */
export const callbacks = {
  settle: createDueDeliveries,
  markTimeouts,
  findUnsettled,
  findDeliveryId,
  hasSecret,
  eraseRevokedSecrets,
  eraseOldSecrets,
};
