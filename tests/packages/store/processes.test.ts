import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  await db.sql("DELETE FROM processes");
});

/** Creates a process whose last heartbeat was this many seconds ago. */
async function heardAgo(app: string, seconds: number) {
  const { processes } = db.openAnother();
  const facts = { app, host: "a-host", pid: 7, memoryBytes: 5_000_000_000, memoryLimitBytes: null };
  await processes.beat(facts);
  await db.sql("UPDATE processes SET heard_at = now() - $2 * interval '1 second' WHERE id = $1", [
    processes.ownId,
    seconds,
  ]);
  return { processes, facts };
}

/** Returns the vanished processes that the replicas of an app receive together: app, and seconds ago. */
async function takeInReplicas(app: string) {
  const reported = await Promise.all([1, 2, 3].map(() => db.store.processes.claimVanished(app)));
  // Rounded to ten seconds: a busy machine needs some to get here.
  const secondsAgo = (at: Date) => Math.round((Date.now() - at.getTime()) / 10_000) * 10;
  return reported.flat().map(({ app, heardAt }) => [app, secondsAgo(heardAt)]);
}

test("a crashed process is listed for a day, and removed by a shutdown", async () => {
  const { processes } = db.store;
  const stopped = await heardAgo("api", 0);
  await heardAgo("api", 1);
  const gone = await heardAgo("pipeline", 3_600);
  await heardAgo("console", 2 * 86_400);
  expect(await processes.countRunning("a-host")).toEqual([{ app: "api", count: 2, elsewhere: 0 }]);
  expect(await processes.listVanished()).toEqual([
    {
      app: "pipeline",
      host: "a-host",
      pid: 7,
      startedAt: expect.any(Date),
      heardAt: expect.any(Date),
      memoryBytes: 5_000_000_000,
      memoryLimitBytes: null,
    },
  ]);
  await stopped.processes.end();
  expect(await processes.countRunning("another-host")).toEqual([{ app: "api", count: 1, elsewhere: 1 }]);
  // After another heartbeat it was only disconnected.
  await gone.processes.beat(gone.facts);
  expect(await processes.listVanished()).toEqual([]);
  expect(await db.sql("SELECT 1 FROM processes WHERE app = 'console'")).toEqual([]);
});

test("a heartbeat returns the processes without heartbeats, and records each as missing once", async () => {
  const own = await heardAgo("api", 60);
  await heardAgo("pipeline", 1);
  const silent = await heardAgo("pipeline", 10);
  const { ownId } = silent.processes;
  const silentNow = () => own.processes.beat(own.facts);
  expect(await silentNow()).toEqual([{ id: ownId, host: "a-host", pid: 7, hasVanished: false }]);
  const reported = await Promise.all([1, 2].map(() => own.processes.recordVanished([ownId])));
  expect(reported.flat()).toMatchObject([{ app: "pipeline", pid: 7 }]);
  expect(await silentNow()).toEqual([]);
});

test("a crashed process is reported to one process, preferably a replica of its own app", async () => {
  await heardAgo("api", 20);
  await heardAgo("api", 40);
  await heardAgo("pipeline", 40);
  await heardAgo("widget", 130);
  const reported = await takeInReplicas("api");
  expect(reported.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
    ["api", 40],
    ["widget", 130],
  ]);
  expect(await takeInReplicas("pipeline")).toEqual([["pipeline", 40]]);
  expect(await takeInReplicas("widget")).toEqual([]);
});

test("what a process reports at one moment is one statement: heartbeats, its channels and the calls that it holds", async () => {
  const { processes, channelStates, instances } = db.openAnother();
  const since = new Date();
  const [silent, settings] = await Promise.all([
    processes.beat({ app: "api", host: "a-host", pid: 7, memoryBytes: 1, memoryLimitBytes: null }),
    channelStates.report([{ id: "api", state: "running", since, error: null }]),
    channelStates.report([{ id: "api", state: "failing", since, error: "The port is taken." }]),
    instances.beat(processes.ownId, "api"),
    instances.beat(processes.ownId, "api"),
  ]);
  expect(silent).toEqual([]);
  expect(settings).toEqual(await db.store.channelsConfig.read());
  expect(await channelStates.list()).toEqual([{ id: "api", state: "failing", since, error: "The port is taken." }]);
  // `now()` is the same within a statement only.
  const moments = await db.sql(
    `SELECT p.heard_at = s.reported_at AND s.reported_at = i.alive_since AS same
     FROM processes p JOIN channel_states s ON s.replica = p.id JOIN instances i ON i.id = p.id WHERE p.id = $1`,
    [processes.ownId],
  );
  expect(moments).toEqual([{ same: true }]);
  await channelStates.remove(["api"]);
});
