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

/** Where Debian and its relatives install PostgreSQL, one folder a major version. */
const DEBIAN_FOLDER = "/usr/lib/postgresql";

/** A PostgreSQL that users install themselves, with its default settings. */
export interface InstalledPostgres {
  /** The database `postgres` on it; the user is a superuser. */
  readonly url: string;
  readonly dataDir: string;
  stop(): Promise<void>;
}

/** Returns the folder of the programs of the oldest PostgreSQL that is installed, or null if there is none. */
export async function findInstalledPostgres(): Promise<string | null> {
  try {
    const versions = (await readdir(DEBIAN_FOLDER)).map(Number).filter((version) => version >= 14);
    return versions.length === 0 ? null : join(DEBIAN_FOLDER, String(Math.min(...versions)), "bin");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Returns the folder of the programs of the PostgreSQL that the product brings along. */
export async function findBundledPostgres(): Promise<string> {
  const { findBinaries, makeUsable } = await import("@svc/embedded");
  const { uid, gid } = await findAccount();
  const account = uid === undefined || gid === undefined ? null : { uid, gid };
  return dirname((await makeUsable(await findBinaries(), account, () => undefined)).postgres);
}

/** Returns the user that PostgreSQL runs as, since it refuses to run as root; empty for an ordinary user. */
async function findAccount(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => run("id", [flag, "postgres"])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

/**
 * Starts an installed PostgreSQL in a temporary folder. Its settings are PostgreSQL's defaults, as on a server of users,
 * but for the number of connections and for fsync: only processes are killed in tests, never the machine.
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
  // In its file, where ALTER SYSTEM can replace it.
  const lines = Object.entries(merged).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(dataDir, "postgresql.conf"), ["\n", ...lines].join(""));
  const server = await spawnChild({
    name: "the installed PostgreSQL",
    command: join(binDir, "postgres"),
    args: ["-D", dataDir],
    ...options,
  });
  // Where its settings collect the log in a file, this is the last line before.
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
