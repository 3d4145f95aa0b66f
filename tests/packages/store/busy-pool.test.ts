import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { isBusy, isUnavailable, newId, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { startSilencingProxy, testLog, waitFor } from "@svc/testing";
import { Client } from "pg";
import { SECRET_KEY, answeredRun, claimNow, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";

let db: Awaited<ReturnType<typeof openTestStore>>;
let store: Store;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  ({ store } = db);
});

afterAll(() => db.close());

beforeEach(async () => {
  project = await db.newProject();
});

/** Holds a lock on a whole table while `work` runs, so that every statement on it waits. */
async function whileLocked<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: db.url });
  await client.connect();
  try {
    await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return await work();
  } finally {
    await client.end();
  }
}

/** A delivery that does not exist. */
const UNKNOWN = { id: newId(), leaseId: newId() };

const untilWaiting = (count: number) =>
  waitFor(
    async () => {
      const waiting = await db.sql(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.length >= count;
    },
    { what: `${count} statements to wait` },
  );

test("a call that finds all connections in use fails as busy, and readiness does not change", async () => {
  const {
    stuck,
    error,
    fault: problem,
  } = await whileLocked("kbs", async () => {
    const waiting = Array.from({ length: 5 }, () => store.kbs.list(project));
    await untilWaiting(5);
    const [listed, found] = await Promise.allSettled([store.projects.list(), store.findProblem()]);
    return { stuck: waiting, error: listed.status === "rejected" ? (listed.reason as unknown) : null, fault: found };
  });
  await Promise.all(stuck);
  expect(error).toMatchObject({
    code: "busy",
    message: "All database connections are in use. Retry.",
    headers: { "Retry-After": "2" },
  });
  expect([isUnavailable(error), isBusy(error)]).toEqual([true, true]);
  expect(problem).toEqual({ status: "fulfilled", value: null });
});

test("a call that waits for a connection to an unresponsive server fails as unavailable", async () => {
  const proxy = await startSilencingProxy(db.url);
  const silent = openStore({ url: proxy.url, secretKey: SECRET_KEY, log: testLog() });
  try {
    proxy.silence();
    const ends = await Promise.allSettled(Array.from({ length: 12 }, () => silent.projects.list()));
    for (const end of ends) {
      const reason = end.status === "rejected" ? (end.reason as unknown) : null;
      expect([isUnavailable(reason), isBusy(reason)]).toEqual([true, false]);
      expect(reason).toMatchObject({ message: expect.stringContaining("is unreachable") });
    }
  } finally {
    await silent.close();
    await proxy.close();
  }
});

test("deliveries are recorded while every connection for messages is in use", async () => {
  const { ticketId } = await store.messages.accept(project, newMessage({ chatId: "drained", mode: "async" }));
  await openAndFinish(store, answeredRun(await claimNow(store, project, ticketId), ["one", "two"]));
  const instance = "0198b7a0-0000-7000-8000-000000000001";
  await store.instances.beat(instance, "api");
  const limits = { maxReplies: 100, maxBytes: 8_000_000, keptDays: 7 };
  const { replies } = await store.replies.claimFromBuffer(project, ticketId, instance, limits);
  const stuck = await whileLocked("deliveries", async () => {
    const waiting = Array.from({ length: 10 }, () => store.deliveries.postpone({ ...UNKNOWN, attempt: 1 }, 0));
    await untilWaiting(5);
    await Promise.all(replies.map(({ id }) => store.replies.confirm(project, id)));
    return waiting;
  });
  await Promise.all(stuck);
  // The process that has drained them is killed: they are not delivered again.
  await store.instances.end(instance);
  expect((await store.replies.readBuffer(project, ticketId, 0, limits)).replies).toEqual([]);
});
