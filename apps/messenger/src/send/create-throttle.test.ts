import { describe, expect, test } from "@jest/globals";
import { DeliveryError } from "@svc/contracts";
import { createThrottle } from "./create-throttle.ts";

const limits = { chatGapMs: 20, gapMs: 1, exclusiveMs: 5, waitMaxMs: 3_000 };

/** A message that is in flight until the test completes it. */
function held() {
  let release = () => {};
  const done = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { done, release };
}

const errorOf = async (work: Promise<unknown>) =>
  await work.then(
    () => null,
    (error: unknown) => (error instanceof DeliveryError ? error : Promise.reject(error)),
  );

describe("messages are sent within Telegram's rate limits", () => {
  test("those of one chat one after the other, in order, without blocking other chats", async () => {
    const throttle = createThrottle({ limits });
    const order: string[] = [];
    const first = held();
    const sent = [
      throttle.run("1", async () => {
        await first.done;
        order.push("1a");
      }),
      throttle.run("1", () => Promise.resolve(order.push("1b"))),
      throttle.run("1", () => Promise.resolve(order.push("1c"))),
    ];
    await throttle.run("2", () => Promise.resolve(order.push("2a")));
    first.release();
    await Promise.all(sent);
    expect(order).toEqual(["2a", "1a", "1b", "1c"]);
  });

  test("and a chat that waits does not use the turns of others", async () => {
    const throttle = createThrottle({ limits: { ...limits, chatGapMs: 60_000, waitMaxMs: 90_000 } });
    await throttle.run("1", () => Promise.resolve());
    const waiting = errorOf(throttle.run("1", () => Promise.resolve()));
    await expect(throttle.run("2", () => Promise.resolve("sent"))).resolves.toBe("sent");
    await throttle.stop();
    expect((await waiting)?.fault).toBe("later");
  });

  test("one at a time over all chats, each until it is recorded as sent", async () => {
    const throttle = createThrottle({ limits: { ...limits, exclusiveMs: 60_000 } });
    let onTheirWay = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 10 }, async (_, chat) =>
        throttle.run(`c${chat}`, async () => {
          onTheirWay += 1;
          most = Math.max(most, onTheirWay);
          await new Promise((resolve) => setImmediate(resolve));
          onTheirWay -= 1;
          if (chat % 3 === 0) throw new Error("refused");
        }),
      ).map(async (sent) => sent.catch(() => null)),
    );
    expect(most).toBe(1);
  });

  test("none while a sent message cannot be recorded, however long that takes", async () => {
    const throttle = createThrottle({ limits: { ...limits, exclusiveMs: 1 } });
    const [sent, noting] = [held(), held()];
    const order: string[] = [];
    const first = throttle.run(
      "1",
      () => Promise.resolve(sent.release()),
      undefined,
      async () => {
        await noting.done;
        order.push("noted");
      },
    );
    await sent.done;
    const others = ["2", "3"].map(async (chat) => throttle.run(chat, () => Promise.resolve(order.push(chat))));
    // If another message takes as long to be sent, the next one is sent meanwhile.
    const other = createThrottle({ limits: { ...limits, exclusiveMs: 1 } });
    const slow = held();
    const inFlight = other.run("1", () => slow.done);
    await other.run("2", () => Promise.resolve());
    slow.release();
    await inFlight;
    expect(order).toEqual([]);
    noting.release();
    await Promise.all([first, ...others]);
    expect(order).toEqual(["noted", "2", "3"]);
  });

  test("and a waiting message that is aborted does not delay the others", async () => {
    const throttle = createThrottle({ limits: { ...limits, exclusiveMs: 60_000 } });
    const first = held();
    const inFlight = throttle.run("1", () => first.done);
    const controller = new AbortController();
    const waiting = errorOf(throttle.run("2", () => Promise.resolve(), controller.signal));
    const last = throttle.run("3", () => Promise.resolve("sent"));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await waiting)?.fault).toBe("later");
    first.release();
    await inFlight;
    await expect(last).resolves.toBe("sent");
  });

  test("with the intervals between them, even if some fail", async () => {
    const throttle = createThrottle({ limits: { ...limits, gapMs: 5 } });
    const starts: number[] = [];
    const ends: number[] = [];
    await Promise.allSettled(
      Array.from({ length: 4 }, async () =>
        throttle.run("1", () => {
          starts.push(performance.now());
          ends.push(performance.now());
          return Promise.reject(new Error("refused"));
        }),
      ),
    );
    for (const [at, start] of starts.slice(1).entries()) expect(start - (ends[at] ?? 0)).toBeGreaterThanOrEqual(20);
    const all: number[] = [];
    await Promise.all(
      Array.from({ length: 6 }, (_, chat) =>
        throttle.run(`c${chat}`, () => Promise.resolve(all.push(performance.now()))),
      ),
    );
    for (const [at, start] of all.slice(1).entries()) expect(start - (all[at] ?? 0)).toBeGreaterThanOrEqual(5);
  });

  test("a message that would wait too long is deferred by the time that it would wait", async () => {
    const throttle = createThrottle({ limits: { ...limits, waitMaxMs: 50 } });
    throttle.pause("1", 9_000);
    const error = await errorOf(throttle.run("1", () => Promise.resolve()));
    expect(error?.fault).toBe("later");
    expect(error?.retryAfterMs).toBeGreaterThan(8_000);
    expect(error?.retryAfterMs).toBeLessThanOrEqual(9_000);
    // A deferred message does not delay other chats.
    await expect(throttle.run("2", () => Promise.resolve("sent"))).resolves.toBe("sent");
  });
});

describe("a pause that Telegram requests", () => {
  test("pauses its chat, and all chats once Telegram requests it for a second chat", async () => {
    const throttle = createThrottle({ limits: { ...limits, waitMaxMs: 0 } });
    throttle.pause("1", 60_000);
    expect([throttle.isPaused("1"), throttle.isPaused("2")]).toEqual([true, false]);
    throttle.pause("2", 30_000);
    expect(throttle.isPaused("3")).toBe(true);
    expect((await errorOf(throttle.run("3", () => Promise.resolve())))?.fault).toBe("later");
  });

  test("for groups pauses only those groups, however many there are", async () => {
    const throttle = createThrottle({ limits: { ...limits, waitMaxMs: 0 } });
    for (const chatId of ["-1", "-2", "7"]) throttle.pause(chatId, 60_000);
    expect(["-1", "-2", "7", "8"].map((chatId) => throttle.isPaused(chatId))).toEqual([true, true, true, false]);
  });

  test("also delays messages that already wait", async () => {
    const throttle = createThrottle({ limits: { ...limits, chatGapMs: 40, waitMaxMs: 1_000 } });
    await throttle.run("1", () => Promise.resolve());
    const waiting = errorOf(throttle.run("1", () => Promise.resolve()));
    await Promise.resolve();
    throttle.pause("1", 60_000);
    expect((await waiting)?.fault).toBe("later");
  });
});

describe("during shutdown", () => {
  test("waiting messages are rejected, and messages in flight are completed", async () => {
    const throttle = createThrottle({ limits: { ...limits, chatGapMs: 60_000, waitMaxMs: 90_000 } });
    const [begun, first] = [held(), held()];
    const inFlight = throttle.run("1", async () => {
      begun.release();
      await first.done;
    });
    await begun.done;
    const waiting = errorOf(throttle.run("1", () => Promise.resolve()));
    const stopped = throttle.stop();
    first.release();
    await inFlight;
    await stopped;
    expect((await waiting)?.fault).toBe("later");
    expect((await errorOf(throttle.run("2", () => Promise.resolve())))?.fault).toBe("later");
  });

  test("a message whose signal is aborted does not wait any longer", async () => {
    const throttle = createThrottle({ limits: { ...limits, chatGapMs: 60_000, waitMaxMs: 90_000 } });
    await throttle.run("1", () => Promise.resolve());
    const controller = new AbortController();
    const waiting = errorOf(throttle.run("1", () => Promise.resolve(), controller.signal));
    controller.abort();
    expect((await waiting)?.fault).toBe("later");
  });
});
