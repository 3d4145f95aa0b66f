import type pg from "pg";

/** A connection that is unused for this time is closed. */
export const IDLE_MS = 60_000;

/** Timeout for the settings of a new connection. */
const APPLY_WITHIN_MS = 5_000;

/** Settings of every connection. */
const COMMON = {
  // Makes the server end sessions whose client no longer exists, because the connection was lost silently or the
  // machine crashed. A session in a transaction holds locks that others wait for.
  idle_session_timeout: String(2 * IDLE_MS),
  idle_in_transaction_session_timeout: "10000",
  tcp_keepalives_idle: "10",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "4",
  // JIT compilation is never worthwhile for short statements. PostgreSQL up to 17 adds 1e10 to the estimated cost of a
  // scan that `enable_seqscan=off` cannot avoid, which is above `jit_above_cost`: with JIT, PostgreSQL's default, each
  // execution of such a statement would be compiled first.
  jit: "off",
};

/** Settings of a pool's connections, by purpose. */
const PURPOSES = {
  /** Requests of people and of administration. */
  general: {},
  /**
   * The statements of every message. They access a few rows by key; the planner must not choose sequential scans,
   * however small a table seems: a plan for an empty table is reused while the table grows.
   */
  messages: { enable_seqscan: "off" },
  /**
   * As `messages`, for writes that are repeated if a database crash loses them: a commit does not wait for the disk.
   */
  leases: { enable_seqscan: "off", synchronous_commit: "off" },
  /** As `messages`, for what callers have received: see `openStore`. */
  notes: { enable_seqscan: "off" },
  /** Reports over many rows of one project, without parallel workers, so that messages are not slowed down. */
  reports: { max_parallel_workers_per_gather: "0", work_mem: "16MB" },
};

/** Purpose of a pool. */
export type Purpose = keyof typeof PURPOSES;

/**
 * Applies settings until the connection ends, if the server process is the one that the connection was opened to.
 * Behind a pooler it is not: the next statement may run in another process, and this one may serve another client.
 */
const APPLY = `
  SELECT set_config(name, value, false) FROM json_each_text($2::json) AS setting (name, value)
  WHERE pg_backend_pid() = $1`;

/**
 * Returns the settings of the connections of one pool. Direct connections get them when they are opened, because
 * poolers reject or drop the startup parameter `options`. Behind a pooler each transaction gets them. Single statements
 * get none there: they are unnamed, so they are planned for the current tables and are fast without settings.
 */
export function createConnectionSettings(purpose: Purpose) {
  const settings = { ...COMMON, ...PURPOSES[purpose] };
  const local = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`);
  let isPooled: boolean | undefined;
  return {
    /** Prepares a new connection. Rejects as pg does. */
    apply: async (client: pg.ClientBase & { processID?: number | null }): Promise<void> => {
      const query: pg.QueryConfig & { query_timeout: number } = {
        text: APPLY,
        values: [client.processID, JSON.stringify(settings)],
        query_timeout: APPLY_WITHIN_MS,
      };
      const { rowCount } = await client.query(query);
      isPooled = rowCount === 0;
    },

    /** True if PostgreSQL is behind a pooler; undefined before the first connection. */
    isPooled: () => isPooled,

    /** Returns the statements that begin a transaction on a prepared connection. */
    begin: () => (isPooled === true ? ["BEGIN", ...local].join("; ") : "BEGIN"),
  };
}

/** The settings of the connections of one pool. */
export type ConnectionSettings = ReturnType<typeof createConnectionSettings>;
