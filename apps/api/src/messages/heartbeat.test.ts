import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { startHeartbeat } from "./heartbeat.ts";

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
