import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { beginPresence } from "./presence.ts";

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
  test("counts as alive from the moment on when its presence has begun until it ends", async () => {
    const first = await beginPresence(store, testLog());
    const second = await beginPresence(store, testLog());
    expect(first.instance).not.toBe(second.instance);
    expect(await store.instances.countAlive("api")).toBe(2);
    expect(first.isSure()).toBe(true);
    await first.end();
    expect(await store.instances.countAlive("api")).toBe(1);
    await second.end();
    expect(await store.instances.countAlive("api")).toBe(0);
  });

  test("does not begin while the store is away, since nothing could be reserved for its callers", async () => {
    const closed = openStore({ url: database.url, secretKey: "presence-secret-of-32-characters!", log: testLog() });
    await closed.close();
    await expect(beginPresence(closed, testLog())).rejects.toMatchObject({ code: "unavailable" });
  });

  test("is not sure of its calls once the store has been away, says at once that it lives where that counts, and soon anyhow", async () => {
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
      const presence = await beginPresence({ instances }, testLog());
      await presence.makeSure();
      expect(beats).toBe(1);
      isAway = true;
      await jest.advanceTimersByTimeAsync(3_100);
      expect(presence.isSure()).toBe(false);
      await expect(presence.makeSure()).rejects.toThrow("away");
      isAway = false;
      await presence.makeSure();
      expect([presence.isSure(), beats]).toEqual([true, 2]);
      await jest.advanceTimersByTimeAsync(250);
      expect(beats).toBe(3);
      await presence.end();
    } finally {
      jest.useRealTimers();
    }
  });
});
