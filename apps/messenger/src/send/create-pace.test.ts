import { describe, expect, test } from "@jest/globals";
import { DeliveryError } from "@svc/contracts";
import { createPace } from "./create-pace.ts";

const limits = { chatGapMs: 20, gapMs: 1, aloneMs: 5, waitMaxMs: 3_000 };

/** A message that is on its way until it is let go. */
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

describe("messages leave at the pace that Telegram allows", () => {
  test("those of one chat one after the other, in their order, while other chats go on", async () => {
    const pace = createPace({ limits });
    const order: string[] = [];
    const first = held();
    const sent = [
      pace.run("1", async () => {
        await first.done;
        order.push("1a");
      }),
      pace.run("1", () => Promise.resolve(order.push("1b"))),
      pace.run("1", () => Promise.resolve(order.push("1c"))),
    ];
    await pace.run("2", () => Promise.resolve(order.push("2a")));
    first.release();
    await Promise.all(sent);
    expect(order).toEqual(["2a", "1a", "1b", "1c"]);
  });

  test("and a chat that has to wait for its turn takes none of the others'", async () => {
    const pace = createPace({ limits: { ...limits, chatGapMs: 60_000, waitMaxMs: 90_000 } });
    await pace.run("1", () => Promise.resolve());
    const waiting = errorOf(pace.run("1", () => Promise.resolve()));
    await expect(pace.run("2", () => Promise.resolve("sent"))).resolves.toBe("sent");
    await pace.stop();
    expect((await waiting)?.fault).toBe("later");
  });

  test("one at a time in all chats, with what is noted of each", async () => {
    const pace = createPace({ limits: { ...limits, aloneMs: 60_000 } });
    let onTheirWay = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 10 }, async (_, chat) =>
        pace.run(`c${chat}`, async () => {
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

  test("none while one that is sent cannot be noted, however long that takes", async () => {
    const pace = createPace({ limits: { ...limits, aloneMs: 1 } });
    const [sent, noting] = [held(), held()];
    const order: string[] = [];
    const first = pace.run(
      "1",
      () => Promise.resolve(sent.release()),
      undefined,
      async () => {
        await noting.done;
        order.push("noted");
      },
    );
    await sent.done;
    const others = ["2", "3"].map(async (chat) => pace.run(chat, () => Promise.resolve(order.push(chat))));
    // Where one takes as long to be sent, the next one goes meanwhile.
    const other = createPace({ limits: { ...limits, aloneMs: 1 } });
    const slow = held();
    const onItsWay = other.run("1", () => slow.done);
    await other.run("2", () => Promise.resolve());
    slow.release();
    await onItsWay;
    expect(order).toEqual([]);
    noting.release();
    await Promise.all([first, ...others]);
    expect(order).toEqual(["noted", "2", "3"]);
  });

  test("one that waits for the others and is broken off holds none of them up", async () => {
    const pace = createPace({ limits: { ...limits, aloneMs: 60_000 } });
    const first = held();
    const onItsWay = pace.run("1", () => first.done);
    const controller = new AbortController();
    const waiting = errorOf(pace.run("2", () => Promise.resolve(), controller.signal));
    const last = pace.run("3", () => Promise.resolve("sent"));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await waiting)?.fault).toBe("later");
    first.release();
    await onItsWay;
    await expect(last).resolves.toBe("sent");
  });

  test("with the gaps between them, whatever becomes of each", async () => {
    const pace = createPace({ limits: { ...limits, gapMs: 5 } });
    const starts: number[] = [];
    const ends: number[] = [];
    await Promise.allSettled(
      Array.from({ length: 4 }, async () =>
        pace.run("1", () => {
          starts.push(performance.now());
          ends.push(performance.now());
          return Promise.reject(new Error("refused"));
        }),
      ),
    );
    for (const [at, start] of starts.slice(1).entries()) expect(start - (ends[at] ?? 0)).toBeGreaterThanOrEqual(20);
    const all: number[] = [];
    await Promise.all(
      Array.from({ length: 6 }, (_, chat) => pace.run(`c${chat}`, () => Promise.resolve(all.push(performance.now())))),
    );
    for (const [at, start] of all.slice(1).entries()) expect(start - (all[at] ?? 0)).toBeGreaterThanOrEqual(5);
  });

  test("a message that would wait too long is put off by what it would wait", async () => {
    const pace = createPace({ limits: { ...limits, waitMaxMs: 50 } });
    pace.pause("1", 9_000);
    const error = await errorOf(pace.run("1", () => Promise.resolve()));
    expect(error?.fault).toBe("later");
    expect(error?.retryAfterMs).toBeGreaterThan(8_000);
    expect(error?.retryAfterMs).toBeLessThanOrEqual(9_000);
    // A message that was put off holds up none of another chat.
    await expect(pace.run("2", () => Promise.resolve("sent"))).resolves.toBe("sent");
  });
});

describe("a pause that Telegram wants", () => {
  test("is kept by its chat alone, and by all once a second chat is told so", async () => {
    const pace = createPace({ limits: { ...limits, waitMaxMs: 0 } });
    pace.pause("1", 60_000);
    expect([pace.isPaused("1"), pace.isPaused("2")]).toEqual([true, false]);
    pace.pause("2", 30_000);
    expect(pace.isPaused("3")).toBe(true);
    expect((await errorOf(pace.run("3", () => Promise.resolve())))?.fault).toBe("later");
  });

  test("of groups is theirs alone, however many want one", async () => {
    const pace = createPace({ limits: { ...limits, waitMaxMs: 0 } });
    for (const chatId of ["-1", "-2", "7"]) pace.pause(chatId, 60_000);
    expect(["-1", "-2", "7", "8"].map((chatId) => pace.isPaused(chatId))).toEqual([true, true, true, false]);
  });

  test("that is asked for while a message waits holds that message too", async () => {
    const pace = createPace({ limits: { ...limits, chatGapMs: 40, waitMaxMs: 1_000 } });
    await pace.run("1", () => Promise.resolve());
    const waiting = errorOf(pace.run("1", () => Promise.resolve()));
    await Promise.resolve();
    pace.pause("1", 60_000);
    expect((await waiting)?.fault).toBe("later");
  });
});

describe("at the end", () => {
  test("what waits is turned away, and what is on its way arrives", async () => {
    const pace = createPace({ limits: { ...limits, chatGapMs: 60_000, waitMaxMs: 90_000 } });
    const [begun, first] = [held(), held()];
    const onItsWay = pace.run("1", async () => {
      begun.release();
      await first.done;
    });
    await begun.done;
    const waiting = errorOf(pace.run("1", () => Promise.resolve()));
    const stopped = pace.stop();
    first.release();
    await onItsWay;
    await stopped;
    expect((await waiting)?.fault).toBe("later");
    expect((await errorOf(pace.run("2", () => Promise.resolve())))?.fault).toBe("later");
  });

  test("a message whose signal is aborted does not wait any longer", async () => {
    const pace = createPace({ limits: { ...limits, chatGapMs: 60_000, waitMaxMs: 90_000 } });
    await pace.run("1", () => Promise.resolve());
    const controller = new AbortController();
    const waiting = errorOf(pace.run("1", () => Promise.resolve(), controller.signal));
    controller.abort();
    expect((await waiting)?.fault).toBe("later");
  });
});
