import { execFile } from "node:child_process";
import { appendFile, chown, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "@svc/primitives";
import { spawnChild } from "./child-process.ts";
import { freePort } from "./free-port.ts";
import { runAsAdmin } from "./admin-database.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { childEnvironment } from "./test-settings.ts";
import { waitFor } from "./wait-for.ts";

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
  const folder = await makeTemporaryFolder("installed-postgres");
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
