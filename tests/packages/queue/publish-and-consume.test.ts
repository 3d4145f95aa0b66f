import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { announceReply, announceWork, jobsOf } from "@svc/queue";
import type { Consumer, Queues } from "@svc/queue";
import { waitFor } from "@svc/testing";
import { incomingJob, openTestQueues } from "./open-test-queues.ts";
import type { TestQueues } from "./open-test-queues.ts";

const QUEUE = "incoming-messages";

let servers: TestQueues;
let queues: Queues;
const consumers: Consumer[] = [];

/** Consumes until the end of the test. */
function consume(...args: Parameters<typeof queues.consume<typeof QUEUE>>): Consumer {
  const consumer = queues.consume(...args);
  consumers.push(consumer);
  return consumer;
}

async function isEmpty(): Promise<boolean> {
  const { waiting, active, delayed } = await queues.countJobs(QUEUE);
  return waiting + active + delayed === 0;
}

beforeAll(async () => {
  servers = await openTestQueues();
  queues = servers.open();
  await waitFor(() => queues.isUp(), { what: "the queues to be up" });
});

afterEach(async () => {
  for (const consumer of consumers.splice(0)) await consumer.close(5_000);
});

afterAll(async () => {
  await servers.close();
});

test("every published job is delivered to a consumer, with its data", async () => {
  const jobs = Array.from({ length: 40 }, (_, index) => incomingJob(`all-${index}`));
  const taken: unknown[] = [];
  consume(QUEUE, (data) => {
    taken.push(data);
    return Promise.resolve();
  });
  await announceWork(
    queues,
    "incoming-messages",
    jobs.slice(0, 39).map((job) => ({ ...job, attempts: 0 })),
  );
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("all-39"), attempts: 0 }]);
  await waitFor(() => taken.length >= jobs.length, { what: "all jobs to be taken" });
  const byId = (one: unknown, other: unknown) => JSON.stringify(one).localeCompare(JSON.stringify(other));
  expect(taken.sort(byId)).toEqual(jobs.sort(byId));
  await waitFor(isEmpty, { what: "the queue to be empty" });
});

test("messages that are announced in one turn of the event loop for the first time share jobs", async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `shared-${index}`);
  await Promise.all(
    ids.map((id) => announceWork(queues, "incoming-messages", [{ ...incomingJob(id), attempts: 0, isNew: true }])),
  );
  expect((await queues.countJobs(QUEUE)).waiting).toBe(3);
  const taken: string[] = [];
  consume(QUEUE, (data) => {
    taken.push(...jobsOf(data).map(({ messageId }) => messageId));
    return Promise.resolve();
  });
  await waitFor(() => taken.length >= ids.length, { what: "all jobs to be taken" });
  expect(taken.toSorted()).toEqual(ids.toSorted());
  await waitFor(isEmpty, { what: "the queue to be empty" });
});

test("messages that wait to be announced together are announced before the queues close", async () => {
  const closing = servers.open();
  await waitFor(() => closing.isUp(), { what: "the queues to be up" });
  const announce = (id: string) =>
    announceWork(closing, "incoming-messages", [{ ...incomingJob(id), attempts: 0, isNew: true, mayWait: true }]);
  await announce("closing-0");
  const waiting = ["closing-1", "closing-2"].map(announce);
  await closing.close();
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  const taken: string[] = [];
  consume(QUEUE, (data) => {
    taken.push(...jobsOf(data).map(({ messageId }) => messageId));
    return Promise.resolve();
  });
  await waitFor(() => taken.length >= 3, { what: "all jobs to be taken" });
  expect(taken.toSorted()).toEqual(["closing-0", "closing-1", "closing-2"]);
  await waitFor(isEmpty, { what: "the queue to be empty" });
});

test("a waiting job that is published again is one job", async () => {
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("once"), attempts: 0 }]);
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("once"), attempts: 0 }]);
  await announceWork(queues, "incoming-messages", [
    { ...incomingJob("once"), attempts: 0 },
    { ...incomingJob("twice"), attempts: 0 },
  ]);
  expect(await queues.countJobs(QUEUE)).toEqual({ waiting: 2, active: 0, delayed: 0 });
  const taken: string[] = [];
  consume(QUEUE, ({ messageId }) => {
    taken.push(messageId);
    return Promise.resolve();
  });
  await waitFor(isEmpty, { what: "the queue to be empty" });
  expect(taken.sort()).toEqual(["once", "twice"]);
});

test("the same message with another number of attempts is another job", async () => {
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("tried"), attempts: 0 }]);
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("tried"), attempts: 1 }]);
  expect(await queues.countJobs(QUEUE)).toMatchObject({ waiting: 2 });
  consume(QUEUE, () => Promise.resolve());
  await waitFor(isEmpty, { what: "the queue to be empty" });
});

test("a completed job can be published again under its id", async () => {
  let runs = 0;
  consume(QUEUE, () => {
    runs++;
    return Promise.resolve();
  });
  for (const round of [1, 2]) {
    await announceWork(queues, "incoming-messages", [{ ...incomingJob("repeated"), attempts: 0 }]);
    await waitFor(() => runs === round, { what: `run ${round}` });
    await waitFor(isEmpty, { what: "the queue to be empty" });
  }
});

test("a job whose handler rejects is retried, and deleted after its last attempt", async () => {
  const tries: string[] = [];
  consume(QUEUE, ({ messageId }) => {
    tries.push(messageId);
    const isBad = messageId === "hopeless" || tries.filter((id) => id === messageId).length === 1;
    return isBad ? Promise.reject(new Error("planted")) : Promise.resolve();
  });
  await announceWork(queues, "incoming-messages", [
    { ...incomingJob("shaky"), attempts: 0 },
    { ...incomingJob("hopeless"), attempts: 0 },
  ]);
  await waitFor(async () => tries.length >= 5 && (await isEmpty()), { what: "both jobs to be over" });
  expect(tries.sort()).toEqual(["hopeless", "hopeless", "hopeless", "shaky", "shaky"]);
});

test("replies of a chat that are announced twice while they wait are one job per queue", async () => {
  const job = { project: "project", ticketId: "ticket-1", messageId: "message-1", mode: null, fromSeq: 2, toSeq: 3 };
  await announceReply(queues, "api", job);
  await announceReply(queues, "api", job);
  await announceReply(queues, "api", { ...job, fromSeq: 4, toSeq: 4 });
  await announceReply(queues, "widget", job);
  expect(await queues.countJobs("replies-api")).toMatchObject({ waiting: 2 });
  expect(await queues.countJobs("replies-widget")).toMatchObject({ waiting: 1 });
});

test("installations with another prefix do not see each other's jobs", async () => {
  const others = servers.open("svc-test-other");
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("ours"), attempts: 0 }]);
  await waitFor(() => others.isUp(), { what: "the other queues to be up" });
  await others.countJobs(QUEUE).then((counts) => expect(counts).toEqual({ waiting: 0, active: 0, delayed: 0 }));
  consume(QUEUE, () => Promise.resolve());
  await waitFor(isEmpty, { what: "the queue to be empty" });
});

test("close waits for running jobs and accepts no others", async () => {
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const started: string[] = [];
  const ended: string[] = [];
  const consumer = consume(
    QUEUE,
    async ({ messageId }) => {
      started.push(messageId);
      await gate;
      ended.push(messageId);
    },
    { concurrency: 1 },
  );
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("runs"), attempts: 0 }]);
  await waitFor(() => started.length === 1, { what: "the job to be running" });
  const closing = consumer.close(20_000).then(() => [...ended]);
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("waits"), attempts: 0 }]);
  letGo();
  expect(await closing).toEqual(["runs"]);
  expect(started).toEqual(["runs"]);
  expect(await queues.countJobs(QUEUE)).toMatchObject({ waiting: 1, active: 0 });
  consume(QUEUE, () => Promise.resolve());
  await waitFor(isEmpty, { what: "the queue to be empty" });
});

test("close aborts the signals of jobs after its deadline, and other consumers get these jobs", async () => {
  let isRunning = false;
  let isAborted = false;
  const first = consume(
    QUEUE,
    (_data, signal) =>
      new Promise<void>((_resolve, reject) => {
        isRunning = true;
        signal.addEventListener("abort", () => {
          isAborted = true;
          reject(new Error("the process is shutting down"));
        });
      }),
    { concurrency: 1 },
  );
  await announceWork(queues, "incoming-messages", [{ ...incomingJob("long"), attempts: 0 }]);
  await waitFor(() => isRunning, { what: "the job to be running" });
  await first.close(50);
  expect(isAborted).toBe(true);
  const taken: string[] = [];
  consume(QUEUE, ({ messageId }) => {
    taken.push(messageId);
    return Promise.resolve();
  });
  await waitFor(() => taken.includes("long"), { what: "another consumer to get the job", timeoutMs: 45_000 });
  await waitFor(isEmpty, { what: "the queue to be empty" });
});
