import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { spawnChild } from "./child-process.ts";
import { findInPath } from "./find-in-path.ts";
import { freePort } from "./free-port.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

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
