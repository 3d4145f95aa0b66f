import { freePort } from "./free-port.ts";
import { holdResource } from "./held-resources.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { testLog } from "./test-log.ts";

/** A private Postgres in a temporary folder; its role may create databases and is not a superuser. */
export interface PrivatePostgres {
  /** An empty database `svc` on it, unchanged by a restart. */
  readonly url: string;
  readonly port: number;
  /** Changes after a restart. */
  readonly pid: number;
  /** Stops it (SIGKILL by default), resolves when it has exited, and keeps it stopped until `start`. */
  kill(signal?: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void>;
  /** Restarts it with the same port and data. */
  start(): Promise<void>;
  /** Stops it permanently and removes its data. */
  stop(): Promise<void>;
}

/**
 * Postgres exits by itself when its folder is removed, but checks only once a minute; so it is stopped first, because a
 * running server would keep writing to the folder.
 */
const END_SERVER = `pid=$(head -n 1 "$1/postgres/postmaster.pid") && kill -QUIT "$pid"
  while kill -0 "$pid"; do sleep 0.1; done`;

/**
 * Starts the bundled Postgres. `settings` are Postgres' own; by default the data survives a crash of processes but not
 * of the machine, which tests cannot cause.
 */
export async function startPostgres(
  options: { maxConnections?: number; settings?: Record<string, string> } = {},
): Promise<PrivatePostgres> {
  const folder = await makeTemporaryFolder("postgres", END_SERVER);
  const port = await freePort();
  const { startEmbeddedPostgres } = await import("@svc/embedded");
  const settings = { fsync: "off", full_page_writes: "off", max_wal_size: "1GB", ...options.settings };
  const launch = () =>
    startEmbeddedPostgres({
      dataDir: folder.path,
      port,
      settings,
      maxConnections: options.maxConnections ?? 100,
      log: testLog(),
    });

  let server = await launch();
  let isDown = false;
  const end = async () => {
    await server.stop();
    await folder.remove();
  };
  const release = holdResource(`Postgres on port ${port}`, end);
  return {
    url: server.url,
    port,
    get pid() {
      return server.pid;
    },
    async kill(signal = "SIGKILL") {
      process.kill(server.pid, signal);
      // The embedded server is supervised and would be restarted immediately.
      await server.stop();
      isDown = true;
    },
    async start() {
      if (!isDown) throw new Error("This Postgres runs; kill it before you start it again.");
      server = await launch();
      isDown = false;
    },
    async stop() {
      await end();
      release();
    },
  };
}
