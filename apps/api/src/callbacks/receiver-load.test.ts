import { describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import { createReceiverLoad } from "./receiver-load.ts";
import type { CountedTry } from "./receiver-load.ts";

type Load = ReturnType<typeof createReceiverLoad>;

/** No attempt waits for its turn. */
const IMPATIENT = { aReceiver: 100, waiting: 0, all: 100 };

/** An attempt that must be let in. */
async function enter(load: Load, url: string): Promise<CountedTry> {
  const entered = await load.enter(url);
  if ("waitMs" in entered) throw new Error(`an attempt to ${url} is delayed`);
  return entered;
}

/** By how long an attempt is delayed; null if it is let in. */
async function delayOf(load: Load, url: string): Promise<number | null> {
  const entered = await load.enter(url);
  return "waitMs" in entered ? entered.waitMs : null;
}

/** Lets a request to this receiver go on until the returned function is called. */
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
  test("of one receiver are limited, whatever the path, and others have their own", async () => {
    const load = createReceiverLoad({ ...IMPATIENT, aReceiver: 2 });
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

  test("of all receivers together are limited too", async () => {
    const load = createReceiverLoad({ aReceiver: 3, waiting: 0, all: 3 });
    const urls = ["a", "b", "c", "d", "e", "f"].map((name) => `https://${name}.example/`);
    const tries = await Promise.all(urls.slice(0, 3).map((url) => enter(load, url)));
    expect(await delayOf(load, urls[0] ?? "")).toBeGreaterThan(0);
    // One that has nothing in progress need not wait for others that hang, up to twice as many.
    for (const url of urls.slice(3)) tries.push(await enter(load, url));
    expect(await delayOf(load, "https://g.example/")).toBeGreaterThan(0);
    for (const { leave } of tries) leave();
    expect(await delayOf(load, "https://g.example/")).toBeNull();
  });

  test("wait longer the more have to wait, and not for ever; a request that ends in time ends that", async () => {
    const load = createReceiverLoad({ ...IMPATIENT, aReceiver: 1 });
    const url = "https://slow.example/";
    const first = await enter(load, url);
    const waits: number[] = [];
    for (let index = 0; index < 1_000; index++) waits.push((await delayOf(load, url)) ?? 0);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBeLessThan(waits[1] ?? 0);
    expect(waits.at(-1)).toBeLessThanOrEqual(120_000);
    await first.send(async () => undefined);
    expect(await delayOf(load, url)).toBe(waits[0]);
  });

  test("of a receiver that responds in time follow each other in their order, as many as may wait", async () => {
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

test("a receiver is slow while a request takes long, not any more when that is over, and then nobody waits for it", async () => {
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
