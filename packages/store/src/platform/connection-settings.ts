import type pg from "pg";

/** A connection that nobody uses for so long is closed. */
export const IDLE_MS = 60_000;

/** A new connection on which the settings do not arrive within this time is given up. */
const APPLY_WITHIN_MS = 5_000;

/** Settings of every connection. */
const COMMON = {
  // What the server does about sides of connections of which nobody here knows any more, because the line to them was
  // cut in silence or the machine is gone: they end by themselves. One that is in a transaction holds locks that others
  // wait for.
  idle_session_timeout: String(2 * IDLE_MS),
  idle_in_transaction_session_timeout: "10000",
  tcp_keepalives_idle: "10",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "4",
  // Compiling a statement never pays here: they are short. PostgreSQL up to 17 adds 1e10 to the estimated cost of a scan
  // that `enable_seqscan=off` cannot avoid, which is above `jit_above_cost`: with JIT, PostgreSQL's default, each
  // execution of such a statement would be compiled first.
  jit: "off",
};

/** Settings of a pool's connections, by what the pool is for. */
const PURPOSES = {
  /** Whatever people and administration ask for. */
  general: {},
  /**
   * The statements of every message. They touch a few rows by their keys; the planner must not read whole tables,
   * however small it believes them to be: a plan that was made on an empty table is kept while the table grows.
   */
  messages: { enable_seqscan: "off" },
  /**
   * As `messages`, for what is done again when a crash of the database loses it: a commit does not wait for the disk.
   */
  leases: { enable_seqscan: "off", synchronous_commit: "off" },
  /** As `messages`, for what callers have received: see `openStore`. */
  notes: { enable_seqscan: "off" },
  /** What reads many rows of one project: with one process of the database, so that messages keep the rest of it. */
  reports: { max_parallel_workers_per_gather: "0", work_mem: "16MB" },
};

/** What a pool is for. */
export type Purpose = keyof typeof PURPOSES;

/**
 * Sets what holds until the connection ends, if the server process is the one that the connection was opened to. Behind
 * a pooler it is not: there the next statement may run in another process, and this one may serve another client.
 */
const APPLY = `
  SELECT set_config(name, value, false) FROM json_each_text($2::json) AS setting (name, value)
  WHERE pg_backend_pid() = $1`;

/**
 * The settings of the connections of one pool. A direct connection gets them when it is opened: poolers reject or drop
 * the startup parameter `options`. Behind a pooler each transaction gets them. A single statement gets none there: it
 * has no name either, so that it is planned for the tables as they are, and needs none to be fast.
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

    /** True if a pooler is between here and PostgreSQL; undefined before the first connection. */
    isPooled: () => isPooled,

    /** Begins a transaction, on a connection that was prepared. */
    begin: () => (isPooled === true ? ["BEGIN", ...local].join("; ") : "BEGIN"),
  };
}

/** The settings of the connections of one pool. */
export type ConnectionSettings = ReturnType<typeof createConnectionSettings>;
