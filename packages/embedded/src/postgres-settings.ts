/** Where a server listens and how it is sized; everything else has one good value for a local database. */
export type ServerOptions = { port: number; maxConnections: number; settings: Readonly<Record<string, string>> };

/**
 * Small and quiet, but durable: fsync and full_page_writes stay on. One machine has no replicas, so WAL is minimal;
 * parallel workers, JIT and I/O workers cost more processes than a small database gains.
 */
const DEFAULT_SETTINGS = {
  shared_buffers: "32MB",
  max_wal_size: "256MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  max_parallel_workers: "0",
  io_method: "sync",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  // Failed statements reach their caller anyway; in the log they would show what people wrote.
  log_min_messages: "log",
  log_min_error_statement: "panic",
} as const;

/** What the rest of this package relies on and nobody may change: loopback only, and a log that can be read. */
const FIXED_SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  logging_collector: "off",
  log_destination: "stderr",
  log_line_prefix: "",
  lc_messages: "C",
} as const;

/**
 * The folder as Postgres is told it, while the cluster is its working directory. On Linux it is named through /proc:
 * then the server's user needs no right to enter the folders above (a home of mode 700), for a working directory is
 * inherited open. Elsewhere it is the path itself.
 */
export function clusterArgument(clusterDir: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : clusterDir;
}

/** The arguments of `postgres` for a server on this cluster. Later settings win, as in Postgres itself. */
export function serverArguments(clusterDir: string, { port, maxConnections, settings }: ServerOptions): string[] {
  const merged = {
    ...DEFAULT_SETTINGS,
    max_connections: String(maxConnections),
    ...settings,
    ...FIXED_SETTINGS,
    port: String(port),
  };
  return [
    "-D",
    clusterArgument(clusterDir),
    ...Object.entries(merged).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/** The arguments of `postgres` for SQL on stdin without a server; a blank line ends a statement, an error everything. */
export function singleUserArguments(clusterDir: string, database: string): string[] {
  return [
    "--single",
    "-j",
    "-D",
    clusterArgument(clusterDir),
    "-c",
    "exit_on_error=on",
    "-c",
    "log_checkpoints=off",
    database,
  ];
}
