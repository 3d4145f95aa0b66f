import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findPooler } from "@svc/store";
import { createTestDatabase, freePort, spawnChild } from "@svc/testing";
import type { ChildProcess, TestDatabase } from "@svc/testing";

const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
const pgbouncer = folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "svc-pgbouncer-"));
  // PgBouncer does not run as root, and reads its settings as the user that it becomes.
  await chmod(folder, 0o755);
});

afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a PgBouncer before the test's database, and returns its URL. */
async function startPooler(settings: Record<string, string>): Promise<{ url: string; server: ChildProcess }> {
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const name = pathname.slice(1);
  const listenPort = await freePort();
  const target = { host: hostname, port, user: decodeURIComponent(username), password: decodeURIComponent(password) };
  const connection = Object.entries({ ...target, dbname: name }).map(([key, value]) => `${key}='${value}'`);
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(listenPort),
    unix_socket_dir: "",
    auth_type: "any",
    ...settings,
  };
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${value}`);
  const file = join(folder, `${listenPort}.ini`);
  await writeFile(file, ["[databases]", `${name} = ${connection.join(" ")}`, "[pgbouncer]", ...lines, ""].join("\n"));
  const server = await spawnChild({
    name: "pgbouncer",
    command: pgbouncer ?? "pgbouncer",
    args: [...(process.getuid?.() === 0 ? ["-u", "nobody"] : []), file],
    env: {},
  });
  await server.ready(/process up/);
  return { url: `postgres://anybody@127.0.0.1:${listenPort}/${name}`, server };
}

test("a direct connection has no pooler", async () => {
  expect(await findPooler(database.url)).toBeNull();
});

(pgbouncer === undefined ? describe.skip : describe)("PgBouncer is recognised", () => {
  test.each([
    ["as it comes", {}, "rejects_settings"],
    ["in session mode without the settings", { ignore_startup_parameters: "options" }, "loses_settings"],
    ["in transaction mode", { ignore_startup_parameters: "options", pool_mode: "transaction" }, "shares_connections"],
    [
      "in transaction mode with one connection",
      { ignore_startup_parameters: "options", pool_mode: "transaction", default_pool_size: "1" },
      "shares_connections",
    ],
  ])("%s", async (_, settings, problem) => {
    const { url, server } = await startPooler(settings);
    try {
      expect(await findPooler(url)).toBe(problem);
    } finally {
      await server.kill("SIGTERM");
    }
  });
});
