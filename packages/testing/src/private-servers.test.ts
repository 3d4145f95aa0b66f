import { readdir, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Client } from "pg";
import { findRedisServer } from "./find-programs.ts";
import { removeRedisKeys } from "./create-test-queue-backend.ts";
import { startPostgres } from "./start-postgres.ts";
import { startProcess, makeTemporaryFolder } from "./child-process.ts";
import { startRedis } from "./start-redis.ts";
import { waitFor } from "./wait-for.ts";

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Sends commands in Redis' inline form and answers the first lines of its answers. */
function redis(port: number, ...commands: string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, "127.0.0.1").setEncoding("utf8");
    let received = "";
    socket.on("error", reject);
    socket.on("data", (chunk: string) => {
      received += chunk;
    });
    socket.on("end", () => resolve(received.split("\r\n").slice(0, -2)));
    socket.write([...commands, "QUIT", ""].join("\r\n"));
  });
}

test("a private Postgres stays down after SIGKILL until it is started, and keeps what was committed", async () => {
  const postgres = await startPostgres();
  try {
    const { url, pid } = postgres;
    await query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await postgres.kill("SIGKILL");
    await expect(query(url, "SELECT 1")).rejects.toThrow(/ECONNREFUSED/);
    await postgres.start();
    expect(postgres.url).toBe(url);
    expect(postgres.pid).not.toBe(pid);
    expect(await query(url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  } finally {
    await postgres.stop();
  }
});

test("a private Postgres and its data are gone when the process that started it is killed", async () => {
  const folder = await makeTemporaryFolder("script");
  try {
    const file = join(folder.path, "starter.mjs");
    const entry = new URL("../dist/index.js", import.meta.url).href;
    await writeFile(
      file,
      `import { startPostgres } from ${JSON.stringify(entry)};
       console.log("started", (await startPostgres()).pid, ".");`,
    );
    const starter = await startProcess({ file, env: { TMPDIR: folder.path }, name: "starter" });
    await starter.ready(/started \d+/);
    const pid = Number(/started (\d+)/.exec(starter.output())?.[1]);
    expect(await readdir(folder.path)).toHaveLength(2);
    await starter.kill("SIGKILL");
    await waitFor(async () => (await readdir(folder.path)).length === 1, { what: "its folder to be removed" });
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  } finally {
    await folder.remove();
  }
});

const hasRedis = (await findRedisServer()) !== null;

(hasRedis ? test : test.skip)("a private Redis comes back empty on the same port, and never evicts", async () => {
  const server = await startRedis();
  try {
    const { port, pid } = server;
    expect(await redis(port, "SET kept no", "DBSIZE")).toEqual(["+OK", ":1"]);
    await server.kill();
    await expect(redis(port, "PING")).rejects.toThrow(/ECONNREFUSED/);
    await server.start();
    expect(server.pid).not.toBe(pid);
    expect(await redis(port, "DBSIZE", "CONFIG GET maxmemory-policy")).toEqual(
      expect.arrayContaining([":0", "noeviction"]),
    );
  } finally {
    await server.stop();
  }
});

(hasRedis ? test : test.skip)("removing the keys of a test leaves those of others alone", async () => {
  const server = await startRedis();
  try {
    await redis(server.port, "SET svc-test-1:a 1", "SET svc-test-1:b 1", "SET svc-test-2:a 1");
    expect(await removeRedisKeys(`${server.url}/0`, "svc-test-1")).toBe(2);
    expect(await redis(server.port, "DBSIZE")).toEqual([":1"]);
    await expect(removeRedisKeys(`redis://:wrong@127.0.0.1:${server.port}`, "svc-test-2")).rejects.toThrow(/refused/);
  } finally {
    await server.stop();
  }
});
