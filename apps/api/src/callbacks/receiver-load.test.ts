import { describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { createReceiverLoad } from "./receiver-load.ts";
import type { AdmittedAttempt } from "./receiver-load.ts";

type Load = ReturnType<typeof createReceiverLoad>;

/** Limits without a waiting queue. */
const NO_WAITING = { aReceiver: 100, waiting: 0, all: 100 };

/** Starts an attempt that must not be delayed. */
async function enter(load: Load, url: string): Promise<AdmittedAttempt> {
  const entered = await load.enter(url);
  if ("waitMs" in entered) throw new Error(`an attempt to ${url} is delayed`);
  return entered;
}

/** Returns the delay of an attempt; null if it is not delayed. */
async function delayOf(load: Load, url: string): Promise<number | null> {
  const entered = await load.enter(url);
  return "waitMs" in entered ? entered.waitMs : null;
}

/** Keeps a request to this receiver in progress until the returned function is called. */
async function beginRequest(load: Load, url: string) {
  const counted = await enter(load, url);
  let respond: () => void = () => undefined;
  const ended = counted.send(
    () =>
      new Promise<void>((resolve) => {
        respond = resolve;
      }),
  );
  return async () => {
    respond();
    await ended;
    counted.leave();
  };
}

describe("attempts in progress", () => {
  test("are limited per receiver, whatever the path", async () => {
    const load = createReceiverLoad({ ...NO_WAITING, aReceiver: 2 });
    const first = await enter(load, "https://slow.example/one");
    await enter(load, "https://slow.example/two?three");
    expect(await delayOf(load, "https://slow.example:443/four")).toBeGreaterThan(0);
    for (const url of ["https://fast.example/", "http://slow.example/", "https://slow.example:8443/"]) {
      expect(await delayOf(load, url)).toBeNull();
    }
    first.leave();
    expect(await delayOf(load, "https://slow.example/five")).toBeNull();
    expect(await delayOf(load, "https://slow.example/six")).toBeGreaterThan(0);
  });

  test("are limited over all receivers", async () => {
    const load = createReceiverLoad({ aReceiver: 3, waiting: 0, all: 3 });
    const urls = ["a", "b", "c", "d", "e", "f"].map((name) => `https://${name}.example/`);
    const attempts = await Promise.all(urls.slice(0, 3).map((url) => enter(load, url)));
    expect(await delayOf(load, urls[0] ?? "")).toBeGreaterThan(0);
    // A receiver without attempts in progress need not wait for others that hang, up to twice the limit.
    for (const url of urls.slice(3)) attempts.push(await enter(load, url));
    expect(await delayOf(load, "https://g.example/")).toBeGreaterThan(0);
    for (const { leave } of attempts) leave();
    expect(await delayOf(load, "https://g.example/")).toBeNull();
  });

  test("are delayed longer the more of them a slow receiver has, up to a limit, until a request ends in time", async () => {
    const load = createReceiverLoad({ ...NO_WAITING, aReceiver: 2 });
    const url = "https://slow.example/";
    const end = await beginRequest(load, url);
    const second = await enter(load, url);
    const delayNext = async () => (await delayOf(load, url)) ?? 0;
    await waitFor(async () => (await delayNext()) > 2_000, { what: "the receiver to count as slow" });
    await second.send(async () => undefined);
    const waits: number[] = [];
    for (let index = 0; index < 1_000; index++) waits.push(await delayNext());
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBeLessThan(waits[1] ?? 0);
    expect(waits.at(-1)).toBe(120_000);
    await second.send(async () => undefined);
    expect(await delayNext()).toBe(waits[0]);
    await end();
  });

  test("are delayed by a second for each thousand that are more than may wait for a receiver that is not slow", async () => {
    const load = createReceiverLoad({ aReceiver: 1, waiting: 1, all: 100 });
    const url = "https://fast.example/";
    const first = await enter(load, url);
    const waiting = enter(load, url);
    const waits: number[] = [];
    for (let index = 0; index < 3_000; index++) waits.push((await delayOf(load, url)) ?? 0);
    expect([waits[0], waits[999], waits[1_999], waits[2_999]]).toEqual([1_000, 1_000, 2_000, 3_000]);
    first.leave();
    // The queue was empty: the burst is over.
    const next = enter(load, url);
    expect(await delayOf(load, url)).toBe(1_000);
    (await waiting).leave();
    (await next).leave();
  });

  test("wait for a receiver that responds in time, in order, up to the limit", async () => {
    const load = createReceiverLoad({ aReceiver: 1, waiting: 2, all: 100 });
    const url = "https://fast.example/";
    const first = await enter(load, url);
    const order: string[] = [];
    const waiting = ["second", "third"].map(async (name) => {
      const counted = await enter(load, url);
      order.push(name);
      counted.leave();
    });
    expect(await delayOf(load, url)).toBeGreaterThan(0);
    first.leave();
    await Promise.all(waiting);
    expect(order).toEqual(["second", "third"]);
    expect(await delayOf(load, url)).toBeNull();
  });
});

test("a receiver is slow while a request takes long, and no longer after it has ended", async () => {
  const load = createReceiverLoad({ aReceiver: 2, waiting: 10, all: 100 });
  const url = "https://slow.example/";
  const end = await beginRequest(load, url);
  await waitFor(
    async () => {
      const another = await enter(load, url);
      another.leave();
      return another.isSlow;
    },
    { what: "the receiver to count as slow" },
  );
  const second = await enter(load, url);
  expect(await delayOf(load, url)).toBeGreaterThan(0);
  second.leave();
  expect((await enter(load, "https://fast.example/")).isSlow).toBe(false);
  await end();
  expect((await enter(load, url)).isSlow).toBe(false);
});
