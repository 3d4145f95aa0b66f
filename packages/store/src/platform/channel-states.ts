import type { IntegrationId } from "@svc/contracts";
import type { Db } from "../db.ts";

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

/** How the processes are doing with their channels, as each says every second. */
export function channelStatesTable(db: Db) {
  return {
    /** Says how a process is doing with its channels. */
    async report(replica: string, states: readonly ReplicaState[]): Promise<void> {
      await db.prepared(
        "channel_states_report",
        `INSERT INTO channel_states (replica, channel_id, state, since, error)
         SELECT $1, id, state, since, error
         FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[]) AS s (id, state, since, error)
         ON CONFLICT (replica, channel_id) DO UPDATE SET state = excluded.state, since = excluded.since,
           error = excluded.error, reported_at = now()`,
        [
          replica,
          states.map(({ id }) => id),
          states.map(({ state }) => state),
          states.map(({ since }) => since),
          states.map(({ error }) => error),
        ],
      );
    },

    /** Forgets a process that has ended, and those that died without saying so. */
    async forget(replica: string): Promise<void> {
      await db.query("DELETE FROM channel_states WHERE replica = $1 OR reported_at < now() - interval '1 hour'", [
        replica,
      ]);
    },

    /** What the living processes say, by channel, the longest in its state first. */
    async list(): Promise<ReplicaState[]> {
      const rows = await db.query<Omit<ReplicaState, "id"> & { channel_id: IntegrationId }>(
        `SELECT channel_id, state, since, error FROM channel_states
         WHERE reported_at > now() - interval '${REPORTED_WITHIN_MS} milliseconds' ORDER BY channel_id, since`,
      );
      return rows.map(({ channel_id, state, since, error }) => ({ id: channel_id, state, since, error }));
    },
  };
}
