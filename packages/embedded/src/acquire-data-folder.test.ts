import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { acquireDataFolder } from "./acquire-data-folder.ts";
import { DataFolderInUseError } from "./run-tool.ts";

const OWNER_PROCESS = new URL("./owner-process.mjs", import.meta.url).pathname;
const running = new Set<ReturnType<typeof spawn>>();
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-lock-"));
});

afterEach(async () => {
  for (const child of running) await kill(child);
  await rm(dataDir, { recursive: true, force: true });
});

function startOwner() {
  const child = spawn(process.execPath, [OWNER_PROCESS, "acquire", dataDir], { stdio: ["pipe", "pipe", "inherit"] });
  running.add(child);
  const report = once(child.stdout, "data").then(
    ([line]) => JSON.parse(String(line)) as { error?: string; message?: string },
  );
  return { child, report };
}

async function kill(child: ReturnType<typeof spawn>): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

describe("acquireDataFolder", () => {
  test("creates the folder for its user alone, and leaves it empty on release", async () => {
    const folder = join(dataDir, "new", "folder");
    const lock = await acquireDataFolder(folder);
    expect(await readdir(folder)).toEqual(["instance.lock"]);
    await lock.release();
    await lock.release();
    expect(await readdir(folder)).toEqual([]);
  });

  test("refuses a second owner in the same process, and says which process holds the folder and what to do", async () => {
    const lock = await acquireDataFolder(dataDir);
    const refusal = acquireDataFolder(dataDir);
    await expect(refusal).rejects.toThrow(DataFolderInUseError);
    await expect(refusal).rejects.toMatchObject({ pid: process.pid, dataDir: lock.dataDir });
    await expect(refusal).rejects.toThrow(`in use by process ${process.pid}`);
    await expect(refusal).rejects.toThrow("SVC_DATA_DIR");
    await lock.release();
    await (await acquireDataFolder(dataDir)).release();
  });

  test("refuses while another process owns the folder, and takes it over when that one is killed", async () => {
    const owner = startOwner();
    expect(await owner.report).toEqual({});
    await expect(acquireDataFolder(dataDir)).rejects.toMatchObject({ pid: owner.child.pid });
    await kill(owner.child);
    const lock = await acquireDataFolder(dataDir);
    await lock.release();
  });

  test("does not take a process that got the dead owner's pid for the owner", async () => {
    const lock = await acquireDataFolder(dataDir);
    const file = join(dataDir, "instance.lock");
    const record = JSON.parse(await readFile(file, "utf8")) as { startMark: string | null };
    await lock.release();
    const stale = { ...record, startMark: "an-earlier-boot:1", acquiredAt: "2001-01-01T00:00:00.000Z" };
    await writeFile(file, JSON.stringify(stale));
    await (await acquireDataFolder(dataDir)).release();
  });

  test("takes a lock that a crash of the machine cut short for nobody's", async () => {
    await writeFile(join(dataDir, "instance.lock"), "");
    await (await acquireDataFolder(dataDir)).release();
  });

  test("gives a dead owner's folder to exactly one of many who want it at once", async () => {
    const file = join(dataDir, "instance.lock");
    const dead = { pid: 2 ** 22 + 1, startMark: "gone:1", token: "dead", acquiredAt: new Date().toISOString() };
    await writeFile(file, JSON.stringify(dead));
    const contenders = await Promise.allSettled(Array.from({ length: 20 }, () => acquireDataFolder(dataDir)));
    const winners = contenders.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const losers = contenders.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(winners).toHaveLength(1);
    expect(losers.every((reason) => reason instanceof DataFolderInUseError)).toBe(true);
    for (const winner of winners) await winner.release();
    expect(await readdir(dataDir)).toEqual([]);
  });

  test("does so among processes, too", async () => {
    const dead = { pid: 2 ** 22 + 1, startMark: "gone:1", token: "dead", acquiredAt: new Date().toISOString() };
    await writeFile(join(dataDir, "instance.lock"), JSON.stringify(dead));
    const owners = Array.from({ length: 4 }, () => startOwner());
    const reports = await Promise.all(owners.map(({ report }) => report));
    expect(reports.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(reports.filter(({ error }) => error === "DataFolderInUseError")).toHaveLength(3);
  });
});
