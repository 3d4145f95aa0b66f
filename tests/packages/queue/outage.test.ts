import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { QueueDownError, announceWork, openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { readTestSettings, startRedis, startSilencingProxy, testLog, waitFor, queryDatabase } from "@svc/testing";
import { incomingJob, openTestQueues } from "./open-test-queues.ts";
import { NO_DATABASE, canStartPrivateBackend, startPrivateBackend } from "./start-private-backend.ts";
import type { PrivateBackend } from "./start-private-backend.ts";

const QUEUE = "incoming-messages";

((await canStartPrivateBackend()) ? describe : describe.skip)("while the backend is away", () => {
  let backend: PrivateBackend;
  let queues: Queues;
  const taken: string[] = [];

  const consume = () =>
    queues.consume(QUEUE, ({ messageId }) => {
      taken.push(messageId);
      return Promise.resolve();
    });

  /** Publishes until it succeeds, like the sweeper. */
  const publishUntilTaken = (messageId: string) =>
    waitFor(
      async () => {
        if (!taken.includes(messageId))
          await announceWork(queues, "incoming-messages", [{ ...incomingJob(messageId), attempts: 0 }]);
        return taken.includes(messageId);
      },
      { what: `${messageId} to be taken`, timeoutMs: 30_000 },
    );

  beforeAll(async () => {
    backend = await startPrivateBackend();
  });

  beforeEach(() => {
    taken.length = 0;
  });

  // Each test leaves the backend running.
  afterEach(() => queues.close());

  afterAll(() => backend.stop());

  test("a consumer that was registered before the backend is available starts when it becomes available", async () => {
    await backend.kill();
    queues = backend.open();
    const consumer = consume();
    expect(queues.isUp()).toBe(false);
    await expect(announceWork(queues, "incoming-messages", [{ ...incomingJob("early"), attempts: 0 }])).rejects.toThrow(
      QueueDownError,
    );
    await backend.start();
    await publishUntilTaken("first");
    await consumer.close(5_000);
  });

  test("publishing rejects with QueueDownError during an outage, and works again afterwards", async () => {
    queues = backend.open();
    const consumer = consume();
    await publishUntilTaken("before");
    await backend.kill();
    await waitFor(() => !queues.isUp(), { what: "the loss to be noticed" });
    // No call may wait for the backend: it starts only after every call has ended.
    const calls = Array.from({ length: 500 }, (_, index) =>
      announceWork(queues, "incoming-messages", [{ ...incomingJob(`lost-${index}`), attempts: 0 }]),
    );
    const outcomes = await Promise.allSettled([...calls, queues.countJobs(QUEUE)]);
    const reasons = outcomes.map((outcome) =>
      outcome.status === "rejected" ? (outcome.reason as Error).name : "done",
    );
    expect(new Set(reasons)).toEqual(new Set([QueueDownError.name]));
    await backend.start();
    await publishUntilTaken("after");
    expect(taken.filter((id) => id.startsWith("lost"))).toEqual([]);
    await consumer.close(5_000);
  });

  test("a call at the moment of the outage rejects too", async () => {
    queues = backend.open();
    await waitFor(() => queues.isUp(), { what: "the queues to be up" });
    await announceWork(queues, "incoming-messages", [{ ...incomingJob("warm"), attempts: 0 }]);
    const outcomes: Promise<string>[] = [];
    const publish = () => {
      const call = announceWork(queues, "incoming-messages", [
        { ...incomingJob(`cut-${outcomes.length}`), attempts: 0 },
      ]);
      outcomes.push(
        call.then(
          () => "published",
          (error: Error) => error.name,
        ),
      );
    };
    publish();
    let isDead = false;
    const killing = backend.kill().then(() => {
      isDead = true;
    });
    await waitFor(
      () => {
        publish();
        return isDead;
      },
      { what: "the backend to be dead" },
    );
    await killing;
    publish();
    expect(
      (await Promise.all(outcomes)).filter((name) => name !== "published" && name !== QueueDownError.name),
    ).toEqual([]);
    await backend.start();
  });

  test("a consumer continues after repeated kill -9 and restart, without being recreated", async () => {
    queues = backend.open();
    const consumer = consume();
    await publishUntilTaken("round-0");
    for (const round of [1, 2, 3]) {
      await backend.kill();
      await backend.start();
      await publishUntilTaken(`round-${round}`);
    }
    await consumer.close(5_000);
  });

  test("a job that runs while the backend is killed completes, and its consumer continues", async () => {
    queues = backend.open();
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const ended: string[] = [];
    const consumer = queues.consume(QUEUE, async ({ messageId }) => {
      taken.push(messageId);
      if (messageId === "long") await gate;
      ended.push(messageId);
    });
    await publishUntilTaken("long");
    await backend.kill();
    letGo();
    await waitFor(() => ended.includes("long"), { what: "the job to end" });
    await backend.start();
    await publishUntilTaken("next");
    await consumer.close(5_000);
  });

  test("wake-ups are lost without harm during an outage, and arrive again afterwards", async () => {
    queues = backend.open();
    const heard = new Set<string>();
    queues.wakeUps.listen("replies", (ids) => {
      for (const id of ids) heard.add(id);
    });
    const sendUntilHeard = (id: string) =>
      waitFor(
        () => {
          queues.wakeUps.send("replies", [id]);
          return heard.has(id);
        },
        { what: `${id} to be heard`, timeoutMs: 30_000 },
      );
    await sendUntilHeard("before");
    await backend.kill();
    queues.wakeUps.send("replies", ["meanwhile"]);
    await backend.start();
    await sendUntilHeard("after");
  });

  test("queues and consumers can be closed", async () => {
    queues = backend.open();
    const started = consume();
    await publishUntilTaken("before");
    await backend.kill();
    const late = consume();
    await Promise.all([started.close(1_000), late.close(1_000)]);
    await queues.close();
    await backend.start();
    queues = backend.open();
  });
});

(readTestSettings().queueBackend === "redis" && (await canStartPrivateBackend()) ? test : test.skip)(
  "attempts to connect that began while nothing passed delay no job once Redis can be reached",
  async () => {
    const redis = await startRedis();
    const line = await startSilencingProxy(redis.url);
    line.silence();
    const queues = openQueues({ databaseUrl: NO_DATABASE, redisUrl: line.url, log: testLog() });
    try {
      let isTaken = false;
      const consumer = queues.consume(QUEUE, () => {
        isTaken = true;
        return Promise.resolve();
      });
      await waitFor(() => line.waiting >= 3, { what: "the attempts to begin" });
      line.restore("forgotten");
      const restoredAt = performance.now();
      const publish = async () => {
        if (queues.isUp()) await announceWork(queues, "incoming-messages", [{ ...incomingJob("after"), attempts: 0 }]);
        return isTaken;
      };
      await waitFor(publish, { what: "a job to be taken" });
      const tookMs = performance.now() - restoredAt;
      await consumer.close(1_000);
      // A single attempt ends after 6 s.
      expect(tookMs).toBeLessThan(4_500);
    } finally {
      await queues.close();
      await line.close();
      await redis.stop();
    }
  },
);

(readTestSettings().queueBackend === "redis" && (await canStartPrivateBackend()) ? test : test.skip)(
  "an idle connection for wake-ups that was dropped silently is replaced",
  async () => {
    const redis = await startRedis();
    const line = await startSilencingProxy(redis.url);
    const queues = openQueues({ databaseUrl: NO_DATABASE, redisUrl: line.url, log: testLog() });
    const sender = openQueues({ databaseUrl: NO_DATABASE, redisUrl: redis.url, log: testLog() });
    try {
      const heard = new Set<string>();
      queues.wakeUps.listen("replies", (ids) => {
        for (const id of ids) heard.add(id);
      });
      const sendUntilHeard = (id: string) => () => {
        sender.wakeUps.send("replies", [id]);
        return heard.has(id);
      };
      await waitFor(sendUntilHeard("before"), { what: "a wake-up before" });
      line.silence();
      line.restore("forgotten");
      // A ping every 5 s, whose response is awaited for 4 s.
      await waitFor(sendUntilHeard("after"), { what: "a wake-up afterwards", timeoutMs: 12_000 });
    } finally {
      await Promise.all([queues.close(), sender.close()]);
      await line.close();
      await redis.stop();
    }
  },
);

(readTestSettings().queueBackend === "postgres" ? test : test.skip)(
  "a job and wake-ups find their way when only the connection that listens for them is lost",
  async () => {
    const servers = await openTestQueues();
    try {
      const queues = servers.open();
      const taken: string[] = [];
      const consumer = queues.consume(QUEUE, ({ messageId }) => {
        taken.push(messageId);
        return Promise.resolve();
      });
      const heard = new Set<string>();
      queues.wakeUps.listen("replies", (ids) => {
        for (const id of ids) heard.add(id);
      });
      const publish = (messageId: string) =>
        announceWork(queues, "incoming-messages", [{ ...incomingJob(messageId), attempts: 0 }]);
      await waitFor(() => queues.isUp(), { what: "the queues to be up" });
      await publish("before");
      await waitFor(() => taken.includes("before"), { what: "the job before" });
      const ended = await queryDatabase(
        servers.databaseUrl,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'svc-wake-ups'`,
      );
      expect(ended.length).toBe(1);
      await publish("unheard");
      // A worker without wake-ups polls after 30 s.
      await waitFor(() => taken.includes("unheard"), {
        what: "the job that was announced to nobody",
        timeoutMs: 15_000,
      });
      const sendUntilHeard = () => {
        queues.wakeUps.send("replies", ["after"]);
        return heard.has("after");
      };
      await waitFor(sendUntilHeard, { what: "a wake-up afterwards" });
      await consumer.close(1_000);
    } finally {
      await servers.close();
    }
  },
);
