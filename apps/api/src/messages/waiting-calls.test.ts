import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { openReplyBoard, startHeartbeat } from "./waiting-calls.ts";
import type { ReplyBoard } from "./waiting-calls.ts";

describe("the board", () => {
  const LONG_MS = 30_000;

  let board: ReplyBoard;
  let topics: Map<string, (ids: string[]) => void>;
  let sent: [topic: string, ids: readonly string[]][];

  /** Wake-ups of other replicas. */
  const wakeUps = {
    maxIdChars: 1_000,
    send: (topic: string, ids: readonly string[]) => void sent.push([topic, ids]),
    listen(topic: string, wake: (ids: string[]) => void) {
      topics.set(topic, wake);
      return () => void topics.delete(topic);
    },
  };

  beforeEach(() => {
    [topics, sent] = [new Map(), []];
    board = openReplyBoard({ wakeUps });
  });

  afterEach(() => board.close());

  describe("a watch", () => {
    test("wakes up when its chat has new replies", async () => {
      const watch = board.watch("ticket-1");
      const next = watch.next(LONG_MS);
      board.wake("ticket-1");
      expect(await next).toBe("poll");
    });

    test("misses no wake-up that arrives before it waits", async () => {
      const watch = board.watch("ticket-1");
      board.wake("ticket-1");
      expect(await watch.next(LONG_MS)).toBe("poll");
    });

    test("combines wake-ups that arrive before it waits", async () => {
      const watch = board.watch("ticket-1");
      board.wake("ticket-1");
      board.wake("ticket-1");
      expect(await watch.next(LONG_MS)).toBe("poll");
      expect(await watch.next(0)).toBe("timeout");
    });

    test("does not wake up for another chat", async () => {
      const watch = board.watch("ticket-1");
      board.wake("ticket-2");
      expect(await watch.next(0)).toBe("timeout");
    });

    test("wakes up for an unfinished reply only if its caller shows it", async () => {
      const shows = board.watch("ticket-1", { receivesTexts: true });
      const waits = board.watch("ticket-1");
      topics.get("unfinished-replies")?.(["ticket-1", "ticket-2"]);
      expect(await shows.next(LONG_MS)).toBe("poll");
      expect(await waits.next(0)).toBe("timeout");
    });

    test("polls at an interval, in case a wake-up was lost", async () => {
      expect(await board.watch("ticket-1").next(LONG_MS)).toBe("poll");
    });

    test("returns timeout when its time is over, also with none left", async () => {
      const watch = board.watch("ticket-1");
      expect(await watch.next(1)).toBe("timeout");
      expect(await watch.next(-5)).toBe("timeout");
    });

    test("that has ended returns closed, now and later", async () => {
      const watch = board.watch("ticket-1");
      const next = watch.next(LONG_MS);
      watch.end();
      expect(await next).toBe("closed");
      watch.end();
      expect(await watch.next(LONG_MS)).toBe("closed");
    });
  });

  describe("several watches of one chat", () => {
    test("all wake up, and the end of one does not end the others", async () => {
      const [first, second] = [board.watch("ticket-1"), board.watch("ticket-1")];
      first.end();
      const next = second.next(LONG_MS);
      board.wake("ticket-1");
      expect(await next).toBe("poll");
      expect(board.count()).toBe(1);
    });

    test("are counted until they end, and leave nothing behind", () => {
      const watches = ["ticket-1", "ticket-1", "ticket-2"].map((ticket) => board.watch(ticket));
      expect(board.count()).toBe(3);
      for (const watch of watches) watch.end();
      expect(board.count()).toBe(0);
    });
  });

  describe("wake", () => {
    test("returns true if a caller of this process waits for the reply to this message", () => {
      expect(board.wake("ticket-1", "message-1")).toBe(false);
      const watch = board.watch("ticket-1", { messageId: "message-1" });
      expect(board.wake("ticket-1", "message-1")).toBe(true);
      expect(board.wake("ticket-1", "message-2")).toBe(false);
      expect(board.wake("ticket-1")).toBe(false);
      watch.end();
      expect(board.wake("ticket-1", "message-1")).toBe(false);
    });
  });

  describe("notify", () => {
    test("wakes up other replicas unless the caller that waits for the message is here", async () => {
      const watch = board.watch("ticket-1", { messageId: "message-1" });
      board.notify("ticket-1", "message-1");
      expect([await watch.next(LONG_MS), sent]).toEqual(["poll", []]);
      board.notify("ticket-1", "message-2");
      board.notify("ticket-2");
      expect([await watch.next(LONG_MS), sent]).toEqual([
        "poll",
        [
          ["replies", ["ticket-1"]],
          ["replies", ["ticket-2"]],
        ],
      ]);
    });

    test("of another replica wakes up the callers of this one", async () => {
      const watch = board.watch("ticket-1");
      topics.get("replies")?.(["ticket-1"]);
      expect([await watch.next(LONG_MS), sent]).toEqual(["poll", []]);
    });
  });

  describe("close", () => {
    test("ends every wait, now and later, and stops listening", async () => {
      const waiting = board.watch("ticket-1").next(LONG_MS);
      board.close();
      expect([await waiting, topics.size]).toEqual(["closed", 0]);
      expect(await board.watch("ticket-2").next(LONG_MS)).toBe("closed");
    });
  });
});

describe("the heartbeat", () => {
  let database: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    database = await createTestDatabase();
    store = openStore({ url: database.url, secretKey: "presence-secret-of-32-characters!", log: testLog() });
  });

  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  describe("a process that holds calls", () => {
    test("counts as alive from the start of its heartbeat until it stops", async () => {
      const first = await startHeartbeat(store, testLog());
      const second = await startHeartbeat(store, testLog());
      expect(first.instance).not.toBe(second.instance);
      expect(await store.instances.countAlive("api")).toBe(2);
      expect(first.isLeaseFresh()).toBe(true);
      await first.stop();
      expect(await store.instances.countAlive("api")).toBe(1);
      await second.stop();
      expect(await store.instances.countAlive("api")).toBe(0);
    });

    test("does not start while the store is unavailable, since nothing could be reserved for its callers", async () => {
      const closed = openStore({ url: database.url, secretKey: "presence-secret-of-32-characters!", log: testLog() });
      await closed.close();
      await expect(startHeartbeat(closed, testLog())).rejects.toMatchObject({ code: "unavailable" });
    });

    test("has no fresh lease after an outage of the store, and renews it soon, or immediately before it claims replies", async () => {
      jest.useFakeTimers();
      try {
        let isAway = false;
        let beats = 0;
        const beat = () => {
          if (isAway) return Promise.reject(new Error("away"));
          beats += 1;
          return Promise.resolve();
        };
        const instances = { beat, end: () => Promise.resolve(), countAlive: () => Promise.resolve(1) };
        const heartbeat = await startHeartbeat({ instances }, testLog());
        await heartbeat.ensureAlive();
        expect(beats).toBe(1);
        isAway = true;
        await jest.advanceTimersByTimeAsync(3_100);
        expect(heartbeat.isLeaseFresh()).toBe(false);
        await expect(heartbeat.ensureAlive()).rejects.toThrow("away");
        isAway = false;
        await heartbeat.ensureAlive();
        expect([heartbeat.isLeaseFresh(), beats]).toEqual([true, 2]);
        await jest.advanceTimersByTimeAsync(250);
        expect(beats).toBe(3);
        await heartbeat.stop();
      } finally {
        jest.useRealTimers();
      }
    });
  });
});
