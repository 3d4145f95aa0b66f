import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { isUnavailable, migrateStore, newId, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { queryDatabase, startPostgres, startSilencingProxy, testLog, waitFor } from "@svc/testing";
import type { PrivatePostgres } from "@svc/testing";
import pg from "pg";
import { SECRET_KEY, answeredRun, claimNow, newMessage, openAndFinish, textsOf } from "./open-test-store.ts";

let postgres: PrivatePostgres;
let store: Store;
let project: ProjectId;

beforeAll(async () => {
  postgres = await startPostgres();
  await migrateStore(postgres.url, testLog());
  store = openStore({ url: postgres.url, secretKey: SECRET_KEY, log: testLog() });
  ({
    project: { id: project },
  } = await store.projects.ensure("default"));
});

afterAll(async () => {
  await store.close();
  await postgres.stop();
});

const accept = (text: string) => store.messages.accept(project, newMessage({ chatId: "one chat", text }));

test("while Postgres is unavailable every call fails as such, and works after it recovers, without a restart", async () => {
  const { ticketId } = await accept("before");
  const claimed = await claimNow(store, project, ticketId);
  await store.tickets.open(project, claimed);
  expect(await store.ping()).toBe(true);
  await postgres.kill("SIGKILL");

  expect(await store.ping()).toBe(false);
  const failures = await Promise.allSettled([
    accept("away 1"),
    accept("away 2"),
    store.messages.claim(project, ticketId),
    store.tickets.finish(project, answeredRun(claimed, ["answer"])),
    store.projects.list(),
  ]);
  for (const failure of failures) {
    expect(failure).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    expect(failure.status === "rejected" && isUnavailable(failure.reason)).toBe(true);
  }

  await postgres.start();
  await waitFor(() => store.ping(), { what: "the store to answer again" });
  expect(await accept("after")).toMatchObject({ seq: 2 });
  // A claim may be lost with the crash. Then its run must not be committed, and the message can be claimed again.
  if ((await store.tickets.finish(project, answeredRun(claimed, ["answer"]))) === null) {
    const again = await waitFor(() => store.messages.claim(project, ticketId), {
      what: "the message to be free again",
    });
    expect(again.messageId).toBe(claimed.messageId);
    expect(await openAndFinish(store, answeredRun(again, ["answer"]))).toMatchObject({ hasMore: true });
  }
  expect(await store.messages.findState(project, claimed.messageId)).toBe("answered");
  const page = await store.replies.readBuffer(project, ticketId, 0, { maxReplies: 10, maxBytes: 10_000, keptDays: 7 });
  expect(textsOf(page.replies)).toEqual(["answer"]);
});

test("everything that was acknowledged before Postgres was killed is stored afterwards", async () => {
  const acknowledged: string[] = [];
  const writing = Array.from({ length: 8 }, async (_, writer) => {
    for (let index = 0, isThere = true; isThere; index++) {
      const message = newMessage({ chatId: `writer ${writer}`, text: `${writer}/${index}` });
      try {
        acknowledged.push((await store.messages.accept(project, message)).messageId);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        isThere = false;
      }
    }
  });
  await waitFor(() => acknowledged.length > 100, { what: "some messages to be acknowledged" });
  await postgres.kill("SIGKILL");
  await Promise.all(writing);
  await postgres.start();
  await waitFor(() => store.ping(), { what: "the store to answer again" });
  for (const messageId of acknowledged) expect(await store.messages.findState(project, messageId)).toBe("received");
});

test("the lease of a bot that was acquired just before Postgres was killed keeps others away afterwards", async () => {
  const holder = newId();
  expect(await store.serviceLeases.claim("messenger/1", holder, 60_000)).toBe(true);
  await postgres.kill("SIGKILL");
  await postgres.start();
  await waitFor(() => store.ping(), { what: "the store to answer again" });
  expect(await store.serviceLeases.claim("messenger/1", newId(), 60_000)).toBe(false);
  // Who waits for the lease writes nothing, not even a lock of the row.
  expect(await queryDatabase(postgres.url, "SELECT xmax::text FROM service_leases")).toEqual([{ xmax: "0" }]);
  expect(await store.serviceLeases.claim("messenger/1", holder, 60_000)).toBe(true);
});

test("calls on a half-open connection fail as soon as the server is reachable, the store continues, and no old connections are left at the server", async () => {
  const line = await startSilencingProxy(postgres.url);
  const far = openStore({ url: line.url, secretKey: SECRET_KEY, log: testLog(), app: "far" });
  const observer = new pg.Client({ connectionString: postgres.url });
  await observer.connect();
  const sidesOf = async () => {
    const text = "SELECT pid FROM pg_stat_activity WHERE application_name = 'far'";
    return (await observer.query<{ pid: number }>(text)).rows.map(({ pid }) => pid);
  };
  try {
    // Two connections: one that waits for a response, and one that is idle.
    await Promise.all([far.projects.list(), far.projects.list()]);
    const before = await sidesOf();
    expect(before).toHaveLength(2);
    line.silence();
    let problem: unknown;
    far.projects.list().catch((error: unknown) => {
      problem = error;
    });
    line.restore("forgotten");
    // Earlier than the statement's own timeout of 30 s.
    await waitFor(() => problem !== undefined, { what: "the statement to fail", timeoutMs: 20_000 });
    expect(isUnavailable(problem)).toBe(true);
    expect(await far.projects.list()).not.toEqual([]);
    const isGone = async () => {
      const sides = await sidesOf();
      return before.every((pid) => !sides.includes(pid));
    };
    await waitFor(isGone, { what: "the server's sides of the old lines to end" });
  } finally {
    await observer.end();
    await far.close();
    await line.close();
  }
});

test("connection attempts of an outage block no caller once the server is reachable", async () => {
  const line = await startSilencingProxy(postgres.url);
  const far = openStore({ url: line.url, secretKey: SECRET_KEY, log: testLog() });
  try {
    line.silence();
    // As many as the pool has connections.
    const stuck = Array.from({ length: 5 }, () => far.projects.list());
    const ends = Promise.allSettled(stuck);
    await waitFor(() => line.waiting >= 5, { what: "the attempts to begin" });
    line.restore("forgotten");
    const restoredAt = performance.now();
    expect(await far.projects.list()).not.toEqual([]);
    // A single attempt ends after 5 s.
    expect(performance.now() - restoredAt).toBeLessThan(4_000);
    for (const end of await ends) expect(end.status === "rejected" && isUnavailable(end.reason)).toBe(true);
  } finally {
    await far.close();
    await line.close();
  }
});
