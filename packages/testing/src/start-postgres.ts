import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { holdResource } from "./held-resources.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { testLog } from "./test-log.ts";
import { spawnChild } from "./child-process.ts";
import { findInPath } from "./find-in-path.ts";

/** A PgBouncer in front of one database. */
export interface PgBouncer {
  /** The database behind it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Returns the path of `pgbouncer`, or null if it is neither in the PATH nor in Debian's folder. */
export const findPgBouncer = (): Promise<string | null> => findInPath("pgbouncer", ["/usr/sbin"]);

/**
 * Starts a PgBouncer in front of the database of a URL. It has PgBouncer's defaults except `settings`, the number of
 * clients and their authentication. It does not run as root, and reads its settings as its own user.
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const name = pathname.slice(1);
  const folder = await makeTemporaryFolder("pgbouncer");
  await chmod(folder.path, 0o755);
  const listenPort = await freePort();
  const target = { host: hostname, port, user: decodeURIComponent(username), password: decodeURIComponent(password) };
  // PgBouncer rejects empty values.
  const connection = Object.entries({ ...target, dbname: name }).flatMap(([key, value]) =>
    value === "" ? [] : [`${key}='${value}'`],
  );
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(listenPort),
    unix_socket_dir: "",
    auth_type: "any",
    max_client_conn: "1000",
    ...settings,
  };
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${value}`);
  const file = join(folder.path, "pgbouncer.ini");
  await writeFile(file, ["[databases]", `${name} = ${connection.join(" ")}`, "[pgbouncer]", ...lines, ""].join("\n"));
  const server = await spawnChild({
    name: "pgbouncer",
    command: (await findPgBouncer()) ?? "pgbouncer",
    args: [...(process.getuid?.() === 0 ? ["-u", "nobody"] : []), file],
    env: {},
  });
  await server.ready(/process up/);
  return {
    url: `postgres://anybody@127.0.0.1:${listenPort}/${name}`,
    async stop() {
      await server.kill("SIGTERM");
      await folder.remove();
    },
  };
}

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
