import type { Log } from "@svc/log";
import pg from "pg";

/** A connection that is used for longer than this is looked into, and one on which nothing happens for longer. */
const SUSPICIOUS_MS = 1_500;
const LOOK_MS = 1_000;
/** A server that cannot be asked within this time tells nothing about its lines. */
const ASK_WITHIN_MS = 2_000;

/** What the server says of its side of a connection. */
interface Backend {
  pid: number;
  /** For so long it has had nothing to do, in milliseconds; null while it works on a statement. */
  idle_ms: number | null;
}

/** A client with what pg knows of its connection: the id of the process that serves it. */
interface Line extends pg.PoolClient {
  processID?: number | null;
}

/**
 * Watches the connections of the pools for lines that were cut silently, as by a firewall that has forgotten them: there
 * a statement would wait for its whole timeout. When a connection was handed out some time ago, the server is asked on
 * another one what its side does. If that side has had nothing to do for all this time, its answer or our question
 * was lost: the line is ended, and whoever waits on it is told that the store is unavailable. A slow statement is at
 * work there and goes on. Behind a pooler the ids of connections are not the server's, and nothing is ended.
 */
export function createLineWatch({ url, log }: { url: string; log: Log }) {
  /** Every connection of the pools. */
  const lines = new Set<Line>();
  /** Since when a connection is handed out, by the clock of this process. */
  const busySince = new Map<Line, number>();
  let isLooking = false;

  async function ask(pids: number[]): Promise<Map<number, Backend>> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: ASK_WITHIN_MS,
      query_timeout: ASK_WITHIN_MS,
      application_name: "svc-line-watch",
    });
    // What breaks it also rejects what it was asked.
    client.on("error", (error) => log.debug({ error }, "the watch over database lines lost its own"));
    try {
      await client.connect();
      const { rows } = await client.query<Backend>(
        `SELECT pid, CASE WHEN state LIKE 'idle%' THEN (extract(epoch FROM now() - state_change) * 1000)::float8 END AS idle_ms
         FROM pg_stat_activity WHERE pid = ANY ($1::integer[])`,
        [pids],
      );
      return new Map(rows.map((row) => [row.pid, row]));
    } finally {
      // Its end is not waited for: the line may be silent by now.
      client
        .end()
        .catch((error: unknown) => log.debug({ error }, "the watch over database lines could not end its own"));
    }
  }

  const end = (line: Line) => {
    line.connection.stream.destroy(new Error("Connection terminated: nothing was heard on it"));
  };

  async function look(): Promise<void> {
    const now = performance.now();
    const suspects = [...busySince].filter(([, since]) => now - since > SUSPICIOUS_MS);
    if (suspects.length === 0) return;
    const backends = await ask(suspects.flatMap(([line]) => line.processID ?? []));
    let isCut = false;
    for (const [line, since] of suspects) {
      const idleMs = backends.get(line.processID ?? 0)?.idle_ms ?? 0;
      // It may have been handed back and out again meanwhile.
      if (idleMs < SUSPICIOUS_MS || busySince.get(line) !== since) continue;
      log.warn({ idleMs: Math.round(idleMs) }, "a database connection was cut silently; it is made again");
      end(line);
      isCut = true;
    }
    // What happened to one has happened to those that nobody uses in this moment.
    if (isCut) for (const line of lines) if (!busySince.has(line)) end(line);
  }

  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => log.debug({ error }, "the server could not be asked about its lines"))
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_MS);
  timer.unref();

  return {
    /** Watches a connection. */
    add: (line: pg.PoolClient) => void lines.add(line),
    /** A connection is handed out. */
    begin: (line: pg.PoolClient) => void busySince.set(line, performance.now()),
    /** A connection is handed back. */
    end: (line: pg.PoolClient) => void busySince.delete(line),
    /** A connection is no more. */
    remove(line: pg.PoolClient) {
      lines.delete(line);
      busySince.delete(line);
    },
    close: () => clearInterval(timer),
  };
}

/** Notices database lines that were cut silently. */
export type LineWatch = ReturnType<typeof createLineWatch>;
