import { chmod, writeFile, appendFile, chown, readFile, readdir } from "node:fs/promises";
import { join, dirname } from "node:path";
import { findDataParent, freePort, makeTemporaryFolder, spawnChild } from "./child-process.ts";
import { holdResource } from "./held-resources.ts";
import { testLog, childEnvironment } from "./test-settings.ts";
import { findInPath } from "./find-programs.ts";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { errorCode } from "@svc/primitives";
import { runAsAdmin } from "./admin-database.ts";
import { waitFor } from "./wait-for.ts";

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
  const settings = { fsync: "off", full_page_writes: "off", max_wal_size: "1GB", ...options.settings };
  // Commits that are to wait for the disk need one.
  const where = settings.fsync === "on" ? {} : { parent: await findDataParent() };
  const folder = await makeTemporaryFolder("postgres", { endFirst: END_SERVER, ...where });
  const port = await freePort();
  const { startEmbeddedPostgres } = await import("@svc/embedded");
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
  // Tests change the address, for one that nobody listens on or for that of a relay.
  const url = new URL(server.url);
  url.search = "";
  return {
    url: url.href,
    port,
    get pid() {
      return server.pid;
    },
    async kill(signal = "SIGKILL") {
      const backends = await childrenOf(server.pid);
      process.kill(server.pid, signal);
      // The embedded server is supervised and would be restarted immediately.
      await server.stop();
      // Backends respond until they notice that their server has been killed.
      await waitFor(async () => (await Promise.all(backends.map(hasEnded))).every(Boolean), {
        what: "the backends to end",
      });
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

/** Returns the processes that a process has started; none where the system does not say. */
async function childrenOf(pid: number): Promise<string[]> {
  const list = await textOf(`/proc/${pid}/task/${pid}/children`);
  return (list ?? "").split(" ").filter((child) => child !== "");
}

/** Returns whether a process has ended; nobody may have asked for its exit code yet. */
const hasEnded = async (pid: string) => / Z /.test((await textOf(`/proc/${pid}/stat`)) ?? " Z ");

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // ESRCH: the process ended while its file was read.
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ESRCH") return null;
    throw error;
  }
}

const run = promisify(execFile);

/** Debian's folder of PostgreSQL, with one folder per major version. */
const DEBIAN_FOLDER = "/usr/lib/postgresql";

/** An installed PostgreSQL with its default settings. */
export interface InstalledPostgres {
  /** Its database `postgres`; the user is a superuser. */
  readonly url: string;
  readonly dataDir: string;
  stop(): Promise<void>;
}

/** Returns the program folder of the oldest installed PostgreSQL, or null if there is none. */
export async function findInstalledPostgres(): Promise<string | null> {
  try {
    const versions = (await readdir(DEBIAN_FOLDER)).map(Number).filter((version) => version >= 14);
    return versions.length === 0 ? null : join(DEBIAN_FOLDER, String(Math.min(...versions)), "bin");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Returns the program folder of the bundled PostgreSQL. */
export async function findBundledPostgres(): Promise<string> {
  const { findBinaries, makeUsable } = await import("@svc/embedded");
  const { uid, gid } = await findAccount();
  const account = uid === undefined || gid === undefined ? null : { uid, gid };
  return dirname((await makeUsable(await findBinaries(), account, () => undefined)).postgres);
}

/** Returns the user for PostgreSQL, which refuses to run as root; empty for an ordinary user. */
async function findAccount(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => run("id", [flag, "postgres"])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

/**
 * Starts an installed PostgreSQL in a temporary folder. It has PostgreSQL's default settings, as on users' servers,
 * except the number of connections and fsync: tests kill only processes, never the machine.
 */
export async function startInstalledPostgres(
  binDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<InstalledPostgres> {
  const account = await findAccount();
  const folder = await makeTemporaryFolder("installed-postgres", { parent: await findDataParent() });
  if (account.uid !== undefined && account.gid !== undefined) await chown(folder.path, account.uid, account.gid);
  const dataDir = join(folder.path, "data");
  const options = { env: { ...childEnvironment(), LC_ALL: "C.UTF-8" }, cwd: folder.path, ...account };
  await run(
    join(binDir, "initdb"),
    ["-D", dataDir, "-U", "svc", "--auth=trust", "--encoding=UTF8", "--no-sync"],
    options,
  );
  const port = await freePort();
  const merged = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "400",
    fsync: "off",
    ...settings,
  };
  // In the file, so that ALTER SYSTEM can override it.
  const lines = Object.entries(merged).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(dataDir, "postgresql.conf"), ["\n", ...lines].join(""));
  const server = await spawnChild({
    name: "the installed PostgreSQL",
    command: join(binDir, "postgres"),
    args: ["-D", dataDir],
    ...options,
  });
  // If its settings redirect the log to a file, this is the last line before that.
  await server.ready(/ready to accept connections|redirecting log output/);
  const url = `postgres://svc@127.0.0.1:${port}/postgres`;
  await waitFor(() => runAsAdmin(url, "SELECT 1"), { what: "the installed PostgreSQL" });
  return {
    url,
    dataDir,
    async stop() {
      await server.kill("SIGINT");
      await folder.remove();
    },
  };
}
