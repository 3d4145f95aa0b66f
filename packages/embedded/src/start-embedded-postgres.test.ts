import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statfsSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { errorCode } from "@svc/primitives";
import { Client } from "pg";
import { canHaveSocket, singleUserArguments } from "./cluster.ts";
import { findBinaries } from "./find-binaries.ts";
import { findRunningPostgres } from "./postmaster-file.ts";
import { choosePostgresAccount, identifyProcess, runTool } from "./run-tool.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from "./start-embedded-postgres.ts";

type Report = { url: string; pid: number; port: number; adopted: boolean; error?: string; message?: string };
type Owner = { child: ReturnType<typeof spawn>; report: Report };

const OWNER_PROCESS = new URL("./owner-process.mjs", import.meta.url).pathname;
const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === "linux";
const testOnLinux = isLinux ? test : test.skip;
const testAsRoot = isRoot && isLinux ? test : test.skip;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A file system in the memory of a Linux machine, and more than the folders of a test need. */
const IN_MEMORY = "/dev/shm";
const MIN_BYTES = 2 * 1024 ** 3;

/** Returns the folder for data folders: in memory if there is room, because copying them is most of the work. */
function findParent(): string {
  if (!existsSync(IN_MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize < MIN_BYTES ? tmpdir() : IN_MEMORY;
}

/** Servers to stop after a failed test. */
const started = new Set<EmbeddedPostgres>();
const children = new Set<ReturnType<typeof spawn>>();
let parent: string;
let dataDir: string;

/** A data folder after a first start and stop: creating a cluster takes most of the time of a first start. */
let usedParent: string;

beforeAll(async () => {
  usedParent = await mkdtemp(join(findParent(), "svc-embedded-used-"));
  await (await startEmbeddedPostgres({ dataDir: join(usedParent, "data"), log: silent })).stop();
});

afterAll(() => rm(usedParent, { recursive: true, force: true }));

beforeEach(async () => {
  parent = await mkdtemp(join(findParent(), "svc-embedded-"));
  dataDir = join(parent, "data");
});

/** Copies the used data folder, with all owners and rights, for tests of later starts. */
async function useFolderAgain(): Promise<void> {
  await promisify(execFile)("cp", ["-a", join(usedParent, "data"), dataDir]);
}

/** Changes the cluster to that of a version with a single role: `svc`, the superuser. */
async function makeRoleSuperuser(): Promise<void> {
  const clusterDir = join(dataDir, "postgres");
  const password = (await readFile(join(dataDir, "postgres-password"), "utf8")).trim();
  const input = `REASSIGN OWNED BY svc TO postgres;\n
DROP ROLE svc;\n
CREATE ROLE other SUPERUSER;\n
SET SESSION AUTHORIZATION other;\n
ALTER ROLE postgres RENAME TO svc;\n
SET SESSION AUTHORIZATION svc;\n
DROP ROLE other;\n
ALTER ROLE svc PASSWORD '${password}';\n`;
  const { postgres } = await findBinaries();
  const account = await choosePostgresAccount(dataDir, clusterDir);
  const { code, output } = await runTool(postgres, singleUserArguments(clusterDir, "svc"), {
    cwd: clusterDir,
    account,
    input,
  });
  expect({ code, output }).toMatchObject({ code: 0 });
  const state: unknown = JSON.parse(await readFile(join(dataDir, "postgres.json"), "utf8"));
  await writeFile(join(dataDir, "postgres.json"), JSON.stringify({ ...(state as object), passwordMark: undefined }));
}

afterEach(async () => {
  for (const postgres of started) await postgres.stop();
  started.clear();
  for (const child of children) await kill(child);
  const left = await findRunningPostgres(dataDir);
  if (left !== null) await (await startEmbeddedPostgres({ dataDir, log: silent })).stop();
  await rm(parent, { recursive: true, force: true });
  expect(left).toBeNull();
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: silent, ...options });
  started.add(postgres);
  return postgres;
}

async function startOwner(account: { uid: number; gid: number } | null = null): Promise<Owner> {
  const child = spawn(process.execPath, [OWNER_PROCESS, "start", dataDir], {
    stdio: ["pipe", "pipe", "inherit"],
    ...account,
  });
  children.add(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const report = JSON.parse(line) as Report;
  if (report.error !== undefined) throw new Error(`${report.error}: ${report.message}`);
  return { child, report };
}

async function kill(child: ReturnType<typeof spawn>): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function endOwner({ child }: Owner): Promise<void> {
  const exit = once(child, "exit");
  child.stdin?.end();
  await exit;
  children.delete(child);
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until the server responds again; the test's own timeout ends it. */
async function queryWhenUp(url: string, text: string): Promise<Record<string, unknown>[]> {
  for (;;) {
    try {
      return await query(url, text);
    } catch (error) {
      if (!["ECONNREFUSED", "ECONNRESET", "57P03"].includes(errorCode(error) ?? "")) throw error;
      await delay(20);
    }
  }
}

/** Waits until another process than this one runs: a restarted server responds just before that is known. */
async function whenReplaced(postgres: EmbeddedPostgres, pid: number): Promise<void> {
  while (postgres.pid === pid) await delay(20);
}

async function writeNote(url: string): Promise<void> {
  await query(url, "CREATE TABLE note AS SELECT 'kept' AS text");
}

const READ_NOTE = "SELECT text FROM note";
const KEPT = [{ text: "kept" }];

describe("a first start", () => {
  test("gives a URL that works, on loopback alone, in UTF-8, with a role that may create databases", async () => {
    const postgres = await start();
    const password = (await readFile(join(dataDir, "postgres-password"), "utf8")).trim();
    const tcpUrl = `postgres://svc:${password}@127.0.0.1:${postgres.port}/svc`;
    expect(postgres.url).toBe(`${tcpUrl}?host=${encodeURIComponent(join(dataDir, "postgres"))}`);
    // Clients that know no socket ignore the parameter.
    for (const [url, isLocal] of [
      [postgres.url, true],
      [tcpUrl, false],
    ] as const) {
      expect(await query(url, "SELECT inet_client_addr() IS NULL AS local")).toEqual([{ local: isLocal }]);
    }
    expect(await query(postgres.url, "SHOW server_encoding")).toEqual([{ server_encoding: "UTF8" }]);
    expect(await query(postgres.url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
    // The fifth line names the folder of the Unix socket (PostgreSQL, src/include/utils/pidfile.h).
    const pidFile = await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8");
    expect(pidFile.split("\n")[4]).toBe(".");
    expect(await query(postgres.url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
    expect(await query(postgres.url, "SHOW max_connections")).toEqual([{ max_connections: "60" }]);
    await query(postgres.maintenanceUrl, "CREATE DATABASE another");
    expect(await query(postgres.maintenanceUrl.replace("/postgres?", "/another?"), "SELECT 1 AS one")).toEqual([
      { one: 1 },
    ]);
    await postgres.stop();
  });

  test("has no socket where the file system or the length of the path allows none", async () => {
    expect(await canHaveSocket(dataDir)).toBe(false);
    expect(await canHaveSocket(parent)).toBe(true);
    expect(await readdir(parent)).toEqual([]);
    dataDir = join(parent, "x".repeat(100));
    const postgres = await start();
    expect(postgres.url).toMatch(/\/svc$/);
    expect(await query(postgres.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await postgres.stop();
  });

  test("lets nobody in without the password, which only its owner can read", async () => {
    const postgres = await start();
    await expect(query(postgres.url.replace(/svc:[^@]+@/, "svc:guess@"), "SELECT 1")).rejects.toMatchObject({
      code: "28P01",
    });
    expect((await stat(join(dataDir, "postgres-password"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, "postgres"))).mode & 0o777).toBe(0o700);
    await postgres.stop();
  });

  test("knows letters of every script, whatever the system's locale", async () => {
    const postgres = await start();
    expect(
      await query(postgres.url, "SELECT lower('ÄΩЖ') AS lower, to_tsvector('simple', '«Straße», жук') AS words"),
    ).toEqual([{ lower: "äωж", words: "'straße':1 'жук':2" }]);
    await postgres.stop();
  });

  test("takes the database, the size and further settings that it is given", async () => {
    const postgres = await start({ database: "other-name", maxConnections: 7, settings: { work_mem: "3MB" } });
    expect(await query(postgres.url, "SELECT current_database() AS name")).toEqual([{ name: "other-name" }]);
    expect(await query(postgres.url, "SHOW max_connections")).toEqual([{ max_connections: "7" }]);
    expect(await query(postgres.url, "SHOW work_mem")).toEqual([{ work_mem: "3MB" }]);
    await postgres.stop();
  });

  test("that was killed half-way does not stand in the way of the next", async () => {
    await mkdir(join(dataDir, "postgres.new-killed", "cluster", "base"), { recursive: true });
    const postgres = await start();
    expect((await readdir(dataDir)).filter((name) => name.startsWith("postgres.new"))).toEqual([]);
    await postgres.stop();
  });
});

describe("a later start", () => {
  beforeEach(useFolderAgain);

  test("finds the data, on the same port, after a stop that left no process and no lock", async () => {
    const first = await start();
    await writeNote(first.url);
    const { pid, url } = first;
    await Promise.all([first.stop(), first.stop()]);
    expect(await identifyProcess(pid)).toBeNull();
    expect(await readdir(dataDir)).not.toContain("instance.lock");

    const second = await start();
    expect(second.url).toBe(url);
    expect(second.adopted).toBe(false);
    expect(await query(second.url, READ_NOTE)).toEqual(KEPT);
    await second.stop();
  });

  test("takes another port when the last one is in use by now", async () => {
    const first = await start();
    await first.stop();
    const squatter = createServer().listen(first.port, "127.0.0.1");
    await once(squatter, "listening");
    const second = await start();
    expect(second.port).not.toBe(first.port);
    await second.stop();

    await expect(start({ port: first.port })).rejects.toMatchObject({ code: "port_taken" });
    squatter.close();
    await once(squatter, "close");
    const third = await start({ port: first.port });
    expect(third.port).toBe(first.port);
    await third.stop();
  });

  test("creates a database that the cluster did not have, and keeps the others", async () => {
    const first = await start();
    await writeNote(first.url);
    await first.stop();
    const second = await start({ database: "second" });
    expect(await query(second.url, "SELECT current_database() AS name")).toEqual([{ name: "second" }]);
    expect(await query(second.url.replace("/second?", "/svc?"), READ_NOTE)).toEqual(KEPT);
    await second.stop();
  });

  test("sets a new password when the file holds another one, and says so to programs that join meanwhile", async () => {
    await useFolderAgain();
    const first = await start();
    await writeNote(first.url);
    const file = join(dataDir, "postgres-password");
    await writeFile(file, "garbage\u0000 ñ\n");
    await expect(findRunningPostgres(dataDir)).rejects.toMatchObject({ code: "password_wrong" });
    await first.stop();
    const second = await start();
    expect(await query(second.url, READ_NOTE)).toEqual(KEPT);
    expect(await readFile(file, "utf8")).toMatch(/^[\w-]{32}\n$/);
    await second.stop();
  });

  test("of an earlier version, whose role was the superuser, gives that role its own objects and no more rights", async () => {
    await useFolderAgain();
    const first = await start();
    await query(
      first.url,
      `CREATE TABLE note AS SELECT 'kept' AS text; CREATE SCHEMA queues; CREATE TYPE queues.state AS ENUM ('done');
       CREATE TABLE queues.jobs (id bigserial PRIMARY KEY, state queues.state); CREATE VIEW shown AS SELECT 1 AS one;
       CREATE FUNCTION queues.one() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    );
    await first.stop();
    await makeRoleSuperuser();
    const second = await start();
    expect(await query(second.url, "SELECT rolname, rolsuper FROM pg_roles WHERE rolcanlogin ORDER BY 1")).toEqual([
      { rolname: "postgres", rolsuper: true },
      { rolname: "svc", rolsuper: false },
    ]);
    expect(
      await query(
        second.url,
        `SELECT relname FROM pg_class WHERE oid >= 16384 AND relowner = 10 UNION ALL SELECT proname FROM pg_proc WHERE oid >= 16384 AND proowner = 10
         UNION ALL SELECT typname FROM pg_type WHERE oid >= 16384 AND typowner = 10 UNION ALL SELECT datname FROM pg_database WHERE datdba = 10 AND datname = 'svc'`,
      ),
    ).toEqual([]);
    await query(second.url, "DROP TABLE note, queues.jobs; DROP TYPE queues.state; CREATE TABLE public.more ()");
    await expect(query(second.url, "COPY (SELECT 1) TO PROGRAM 'true'")).rejects.toMatchObject({ code: "42501" });
    await second.stop();
  });

  test("sets a new password when the old one was lost, and does without its own notes", async () => {
    const first = await start();
    await writeNote(first.url);
    await first.stop();
    await rm(join(dataDir, "postgres-password"));
    await writeFile(join(dataDir, "postgres.json"), "{ damaged");
    const second = await start();
    expect(await query(second.url, READ_NOTE)).toEqual(KEPT);
    await second.stop();
  });

  test("refuses the data of another major release in words, and touches nothing", async () => {
    await (await start()).stop();
    await writeFile(join(dataDir, "postgres", "PG_VERSION"), "17\n");
    await expect(start()).rejects.toMatchObject({ code: "version_mismatch" });
    expect(await readdir(dataDir)).not.toContain("instance.lock");
  });

  testAsRoot("works on a folder that root copied from elsewhere", async () => {
    const first = await start();
    await writeNote(first.url);
    await first.stop();
    const copy = join(parent, "copy");
    await cp(dataDir, copy, { recursive: true });
    expect((await stat(join(copy, "postgres"))).uid).toBe(0);
    const second = await start({ dataDir: copy });
    expect(await query(second.url, READ_NOTE)).toEqual(KEPT);
    await second.stop();
  });
});

describe("after the owner was killed", () => {
  beforeEach(useFolderAgain);

  test("the next start adopts its Postgres with the data, and stops it in the end", async () => {
    const owner = await startOwner();
    await writeNote(owner.report.url);
    await kill(owner.child);

    const postgres = await start();
    expect(postgres.adopted).toBe(true);
    expect(postgres.pid).toBe(owner.report.pid);
    expect(await query(postgres.url, READ_NOTE)).toEqual(KEPT);
    await postgres.stop();
    expect(await identifyProcess(postgres.pid)).toBeNull();
  });

  test("an adopted Postgres is started again when it is killed", async () => {
    const owner = await startOwner();
    await writeNote(owner.report.url);
    await kill(owner.child);
    let heard: (() => void) | undefined;
    const crash = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const postgres = await start({ onCrash: () => heard?.() });
    process.kill(postgres.pid, "SIGKILL");
    await crash;
    expect(await queryWhenUp(postgres.url, READ_NOTE)).toEqual(KEPT);
    await whenReplaced(postgres, owner.report.pid);
    await postgres.stop();
  });

  test("a Postgres with other settings or on another port than wanted is started anew with the data", async () => {
    const owner = await startOwner();
    await writeNote(owner.report.url);
    await kill(owner.child);
    const postgres = await start({ maxConnections: 9 });
    expect(postgres.adopted).toBe(false);
    expect(await query(postgres.url, "SHOW max_connections")).toEqual([{ max_connections: "9" }]);
    expect(await query(postgres.url, READ_NOTE)).toEqual(KEPT);
    await postgres.stop();
    expect(await identifyProcess(owner.report.pid)).toBeNull();
  });

  test("and Postgres with him, the next start recovers the data without help", async () => {
    const owner = await startOwner();
    await writeNote(owner.report.url);
    await kill(owner.child);
    process.kill(owner.report.pid, "SIGKILL");
    const postgres = await start();
    expect(postgres.adopted).toBe(false);
    expect(await query(postgres.url, READ_NOTE)).toEqual(KEPT);
    await postgres.stop();
  });

  test("a pid that belongs to another process of the same user by now is not taken for Postgres", async () => {
    const first = await start();
    await writeNote(first.url);
    const pidFile = join(dataDir, "postgres", "postmaster.pid");
    const lines = (await readFile(pidFile, "utf8")).split("\n");
    await first.stop();
    const { uid, gid } = await stat(join(dataDir, "postgres"));
    const bystander = spawn("sleep", ["1000"], { cwd: "/", ...(isRoot ? { uid, gid } : {}) });
    children.add(bystander);
    await once(bystander, "spawn");
    const taken = [String(bystander.pid), ...lines.slice(1)].join("\n");
    for (const file of [pidFile, join(dataDir, "postgres", `.s.PGSQL.${first.port}.lock`)]) {
      await writeFile(file, taken);
      await chown(file, uid, gid);
    }

    expect(await findRunningPostgres(dataDir)).toBeNull();
    const second = await start();
    expect(await query(second.url, READ_NOTE)).toEqual(KEPT);
    await second.stop();
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });
});

describe("while it runs", () => {
  beforeEach(useFolderAgain);

  test("a Postgres that is killed is started again on the same port, and the owner hears of it", async () => {
    const said: string[] = [];
    let heard: ((exit: unknown) => void) | undefined;
    const crash = new Promise((resolve) => {
      heard = resolve;
    });
    const postgres = await start({
      log: { ...silent, error: (_obj, msg) => said.push(msg) },
      onCrash: (exit) => heard?.(exit),
    });
    await writeNote(postgres.url);
    const { pid, url } = postgres;
    process.kill(pid, "SIGKILL");
    expect(await crash).toEqual({ code: null, signal: "SIGKILL" });
    expect(await queryWhenUp(url, READ_NOTE)).toEqual(KEPT);
    await whenReplaced(postgres, pid);
    expect(said).toContain("PostgreSQL exited unexpectedly; restarting");
    await postgres.stop();
    expect(await identifyProcess(postgres.pid)).toBeNull();
  });

  test("a stop in the middle of that leaves no process either", async () => {
    let heard: (() => void) | undefined;
    const crash = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const postgres = await start({ onCrash: () => heard?.() });
    process.kill(postgres.pid, "SIGKILL");
    await crash;
    await postgres.stop();
    expect(await findRunningPostgres(dataDir)).toBeNull();
  });

  test("a second owner is refused with the first one's pid, in this process and in another", async () => {
    const owner = await startOwner();
    const refusal = start();
    await expect(refusal).rejects.toMatchObject({ name: "DataFolderInUseError", pid: owner.child.pid });
    await expect(refusal).rejects.toThrow("SVC_DATA_DIR");
    await expect(startOwner()).rejects.toThrow(`DataFolderInUseError`);
    await endOwner(owner);
    expect(await identifyProcess(owner.report.pid)).toBeNull();
  });

  test("others can join it without owning it, and find nothing before and after", async () => {
    expect(await findRunningPostgres(dataDir)).toBeNull();
    const postgres = await start();
    expect(await findRunningPostgres(dataDir)).toEqual({
      url: postgres.url,
      pid: postgres.pid,
      port: postgres.port,
    });
    expect((await findRunningPostgres(dataDir, "postgres"))?.url).toBe(postgres.maintenanceUrl);
    await postgres.stop();
    expect(await findRunningPostgres(dataDir)).toBeNull();
  });

  test("an open session does not hold up the stop", async () => {
    const postgres = await start();
    const client = new Client({ connectionString: postgres.url });
    const errors: Error[] = [];
    client.on("error", (error) => errors.push(error));
    await client.connect();
    await client.query("BEGIN");
    await postgres.stop();
    expect(errors[0]).toMatchObject({ code: "57P01" });
    expect(await identifyProcess(postgres.pid)).toBeNull();
  });
});

describe("whoever starts it", () => {
  testOnLinux("PostgreSQL never runs as root", async () => {
    const postgres = await start();
    const { uid } = await stat(`/proc/${postgres.pid}`);
    expect(uid).not.toBe(0);
    await postgres.stop();
  });

  testAsRoot("root may keep the data under a folder that nobody else can enter", async () => {
    await chmod(parent, 0o700);
    expect((await stat(parent)).uid).toBe(0);
    const first = await start();
    await writeNote(first.url);
    process.kill(first.pid, "SIGKILL");
    expect(await queryWhenUp(first.url, READ_NOTE)).toEqual(KEPT);
    expect((await findRunningPostgres(dataDir))?.pid).toBe(first.pid);
    await first.stop();
    const second = await start();
    expect(await query(second.url, READ_NOTE)).toEqual(KEPT);
    expect(await realpath(`/proc/${second.pid}/cwd`)).toBe(join(await realpath(dataDir), "postgres"));
    await second.stop();
  });

  testAsRoot(
    "an ordinary user starts, is killed, adopts and stops as root does; root then goes on as him",
    async () => {
      await chown(parent, NOBODY.uid, NOBODY.gid);
      const first = await startOwner(NOBODY);
      await writeNote(first.report.url);
      await kill(first.child);
      const second = await startOwner(NOBODY);
      expect(second.report).toMatchObject({ adopted: true, pid: first.report.pid });
      expect(await query(second.report.url, READ_NOTE)).toEqual(KEPT);
      await endOwner(second);
      expect(await identifyProcess(second.report.pid)).toBeNull();

      const asRoot = await start();
      expect((await stat(`/proc/${asRoot.pid}`)).uid).toBe(NOBODY.uid);
      expect(await query(asRoot.url, READ_NOTE)).toEqual(KEPT);
      await asRoot.stop();
      const third = await startOwner(NOBODY);
      expect(await query(third.report.url, READ_NOTE)).toEqual(KEPT);
      await endOwner(third);
    },
  );

  testAsRoot("an ordinary user gets a clear refusal for a folder of root's", async () => {
    await (await start()).stop();
    await chmod(parent, 0o755);
    await expect(startOwner(NOBODY)).rejects.toThrow(/EmbeddedPostgresError: .* cannot be used .*SVC_DATA_DIR/);
  });
});
