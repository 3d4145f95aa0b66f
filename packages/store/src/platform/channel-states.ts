import type { IntegrationId } from "@svc/contracts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** How one process is doing with a channel. */
export interface ReplicaState {
  id: IntegrationId;
  state: "running" | "stopped" | "failing";
  /** Since when it is in that state. */
  since: Date;
  /** Why, while it is failing. */
  error: string | null;
}

/** A process that has not said anything for so long is gone. */
const REPORTED_WITHIN_MS = 5_000;

const sql = statements("platform/channel-states", {
  reportedWithinMs: REPORTED_WITHIN_MS,
});

/** Says how a process is doing with its channels. */
export async function report(db: Db, replica: string, states: readonly ReplicaState[]): Promise<void> {
  await sql.report.run(db, {
    replica,
    id: states.map(({ id }) => id),
    state: states.map(({ state }) => state),
    since: states.map(({ since }) => since),
    error: states.map(({ error }) => error),
  });
}

/** Forgets a process that has ended, and those that died without saying so. */
export async function forget(db: Db, replica: string): Promise<void> {
  await sql.forget.run(db, { replica });
}

/** What the living processes say, by channel, the longest in its state first. */
export async function list(db: Db): Promise<ReplicaState[]> {
  const rows = await sql.list.all<Omit<ReplicaState, "id"> & { channelId: IntegrationId }>(db);
  return rows.map(({ channelId, state, since, error }) => ({ id: channelId, state, since, error }));
}
