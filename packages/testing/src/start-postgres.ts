import { freePort } from "./free-port.ts";
import { holdResource } from "./held-resources.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { testLog } from "./test-log.ts";

/** A private Postgres in a temporary folder; its role may create databases and is no superuser. */
export interface PrivatePostgres {
  /** An empty database `svc` on it, the same after a restart. */
  readonly url: string;
  readonly port: number;
  /** Another one after a restart. */
  readonly pid: number;
  /** Ends it (SIGKILL by default), resolves when it is gone, and leaves it down until `start`. */
  kill(signal?: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
}

/**
 * Postgres ends by itself when its folder is gone, but looks only once a minute; so it is asked, and its end waited for,
 * since a server that still writes would keep the folder from being removed.
 */
const END_SERVER = `pid=$(head -n 1 "$1/postgres/postmaster.pid") && kill -QUIT "$pid"
  while kill -0 "$pid"; do sleep 0.1; done`;

/**
 * Starts the Postgres that the product brings along. Settings are Postgres' own; by default the data does not survive
 * a failure of the machine, only of processes, which is all that a test can kill.
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
      // The embedded server is supervised: without this it would be back in a moment.
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
