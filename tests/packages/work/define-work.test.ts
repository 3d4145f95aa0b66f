import { expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { Queues } from "@svc/queue";
import { isUnavailable } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { createLeaseManager, defineWork } from "@svc/work";
import type { HeldLease, Retry, WorkDefinition } from "@svc/work";

interface Task {
  leaseId: string;
  attempts: number;
}

type Definition = WorkDefinition<"model-pulls", void, Task>;

const unavailable = () => new ServiceError("unavailable", "The database is unreachable. Retry.");
const untilAborted = ({ signal }: HeldLease) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });

/** Opens work on tasks in memory, and records the outcomes. */
function openWork(
  tasks: Task[],
  run: Definition["run"],
  {
    queues = {},
    ...change
  }: Omit<Partial<Definition>, "failures"> & {
    failures?: Partial<Definition["failures"]>;
    queues?: Pick<Queues, "isUp" | "consume"> | object;
  } = {},
) {
  const retries: Omit<Retry, "error">[] = [];
  const givenUp: string[] = [];
  const { failures, ...others } = change;
  const work = defineWork<"model-pulls", void, Task>(
    // Only `start` uses the queues.
    { queues: queues as Queues, log: testLog() },
    {
      name: "tests",
      consumes: [{ queue: "model-pulls" }],
      targets: () => [undefined],
      leases: createLeaseManager<Task>(testLog(), { name: "tests", ms: 60_000, renewMs: 60_000 }),
      async claim(_target, { handle }) {
        const task = tasks.shift();
        return task !== undefined && ((await handle(task)) || tasks.length > 0);
      },
      run,
      failures: {
        maxAttempts: 3,
        retry: [1_000, 5_000],
        judge: (error, { attempts }) =>
          isUnavailable(error)
            ? { counts: false, delayMs: 7 }
            : { counts: true, reason: (error as Error).message, attempts },
        retryLater(_task, { delayMs, counts, reason }) {
          retries.push({ delayMs, counts, reason });
          return Promise.resolve();
        },
        giveUp(_task, reason) {
          givenUp.push(reason);
          return Promise.resolve(false);
        },
        facts: ({ leaseId }) => ({ leaseId }),
        ...failures,
      },
      shutdown: { abortAfterMs: 0, deadlineMs: 10_000 },
      ...others,
    },
  );
  return { work, retries, givenUp };
}

const task = (attempts = 1): Task => ({ leaseId: `lease-${attempts}`, attempts });

test("processes the remaining tasks of a target, one after the other", async () => {
  const done: number[] = [];
  const { work } = openWork([task(1), task(2), task(3)], ({ attempts }) => Promise.resolve(done.push(attempts) > 0));
  await work.process();
  expect(done).toEqual([1, 2, 3]);
});

test("works on all targets of a job at once, and rejects it for one that failed once all have ended", async () => {
  let consume: (job: object) => Promise<void> = () => Promise.resolve();
  const queues = {
    isUp: () => false,
    consume(_name: string, handle: typeof consume) {
      consume = handle;
      return { close: () => Promise.resolve(), setShare: () => undefined };
    },
  };
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const { work } = openWork([], () => Promise.resolve(false), {
    queues,
    targets: () => [undefined, undefined],
    async claim() {
      const place = begun.push(begun.length);
      if (place === 1) throw new Error("The first one failed.");
      await new Promise<void>((resolve) => void ends.push(resolve));
      return false;
    },
  });
  work.start();
  let isOver = false;
  const job = consume({}).finally(() => {
    isOver = true;
  });
  job.catch(() => undefined);
  await waitFor(() => begun.length === 2, { what: "both targets" });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  ends[0]?.();
  await expect(job).rejects.toThrow("The first one failed.");
  await work.stop();
});

test("retries after the delay of its attempt, and fails permanently after the last one", async () => {
  const fail = () => Promise.reject(new Error("It failed."));
  const { work, retries, givenUp } = openWork([task(1), task(2), task(3)], fail);
  await work.process();
  expect(retries).toEqual([1_000, 5_000].map((delayMs) => ({ delayMs, counts: true, reason: "It failed." })));
  expect(givenUp).toEqual(["It failed."]);
});

test("counts no attempt for an outage, and repeats the release until the store accepts it", async () => {
  let releases = 0;
  const { work } = openWork([task(3)], () => Promise.reject(unavailable()), {
    failures: {
      retryLater(_task, { delayMs, counts, reason }) {
        expect({ delayMs, counts, reason }).toEqual({ delayMs: 7, counts: false, reason: null });
        return ++releases <= 2 ? Promise.reject(unavailable()) : Promise.resolve();
      },
      giveUp: () => Promise.reject(new Error("It must not be given up.")),
    },
  });
  await work.process();
  expect(releases).toBe(3);
});

test("ends work with too many expired leases without another attempt", async () => {
  const run = () => Promise.reject(new Error("It must not run."));
  const { work, givenUp, retries } = openWork([task()], run, {
    failures: { explainExpiredLeases: () => "its lease expired too often" },
  });
  await work.process();
  expect([givenUp, retries]).toEqual([["its lease expired too often"], []]);
});

test("a shutdown releases running work without an attempt, and claims nothing further", async () => {
  const tasks = [task(), task()];
  let running = 0;
  const { work, retries } = openWork(tasks, (_task, lease) => {
    running += 1;
    return untilAborted(lease);
  });
  const processing = work.process();
  await waitFor(() => running === 1, { what: "the work to start" });
  await work.stop();
  await processing;
  expect(retries).toEqual([{ delayMs: 0, counts: false, reason: null }]);
  await work.process();
  expect([running, tasks.length]).toEqual([1, 1]);
});

test("a job does not wait for long work, which continues and is aborted by a shutdown", async () => {
  let isDone = false;
  const { work } = openWork(
    [task()],
    (_task, lease) =>
      untilAborted(lease).catch(() => {
        isDone = true;
        return false;
      }),
    { jobWaitMs: 1 },
  );
  await work.process();
  expect(isDone).toBe(false);
  await work.stop();
  expect(isDone).toBe(true);
});

test("an error after the job was released does not reject; one before it does", async () => {
  const rejecting = (isReleased: boolean) =>
    openWork([task()], () => Promise.resolve(false), {
      jobWaitMs: 60_000,
      async claim(_target, { releaseJob }) {
        if (isReleased) releaseJob();
        await new Promise(setImmediate);
        throw new Error("It failed.");
      },
    });
  const released = rejecting(true).work;
  await released.process();
  await released.stop();
  await expect(rejecting(false).work.process()).rejects.toThrow("It failed.");
});
