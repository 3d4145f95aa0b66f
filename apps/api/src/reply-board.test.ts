import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createReplyBoard } from "./reply-board.ts";
import type { ReplyBoard } from "./reply-board.ts";

const LONG_MS = 30_000;

let board: ReplyBoard;

beforeEach(() => {
  board = createReplyBoard();
});

afterEach(() => board.close());

describe("a watch", () => {
  test("is woken by a sign of its conversation", async () => {
    const watch = board.watch("ticket-1");
    const next = watch.next(LONG_MS);
    board.wake("ticket-1");
    expect(await next).toBe("look");
  });

  test("misses no sign that comes before it waits", async () => {
    const watch = board.watch("ticket-1");
    board.wake("ticket-1");
    expect(await watch.next(LONG_MS)).toBe("look");
  });

  test("takes many signs for one", async () => {
    const watch = board.watch("ticket-1");
    board.wake("ticket-1");
    board.wake("ticket-1");
    expect(await watch.next(LONG_MS)).toBe("look");
    expect(await watch.next(0)).toBe("timeout");
  });

  test("is not woken by another conversation", async () => {
    const watch = board.watch("ticket-1");
    board.wake("ticket-2");
    expect(await watch.next(0)).toBe("timeout");
  });

  test("is woken by what an unfinished reply says only where somebody shows it", async () => {
    const shows = board.watch("ticket-1", { hearsTexts: true });
    const waits = board.watch("ticket-1");
    board.wakeForText("ticket-1");
    board.wakeForText("ticket-2");
    expect(await shows.next(LONG_MS)).toBe("look");
    expect(await waits.next(0)).toBe("timeout");
  });

  test("looks again by itself, in case a sign was lost", async () => {
    expect(await board.watch("ticket-1").next(LONG_MS)).toBe("look");
  });

  test("says timeout when its time is over, also with none left", async () => {
    const watch = board.watch("ticket-1");
    expect(await watch.next(1)).toBe("timeout");
    expect(await watch.next(-5)).toBe("timeout");
  });

  test("that is ended says closed, now and from now on", async () => {
    const watch = board.watch("ticket-1");
    const next = watch.next(LONG_MS);
    watch.end();
    expect(await next).toBe("closed");
    watch.end();
    expect(await watch.next(LONG_MS)).toBe("closed");
  });
});

describe("several watches of one conversation", () => {
  test("are all woken, and the end of one does not end the others", async () => {
    const [first, second] = [board.watch("ticket-1"), board.watch("ticket-1")];
    first.end();
    const next = second.next(LONG_MS);
    board.wake("ticket-1");
    expect(await next).toBe("look");
    expect(board.count()).toBe(1);
  });

  test("are counted while they last, and leave nothing behind", () => {
    const watches = ["ticket-1", "ticket-1", "ticket-2"].map((ticket) => board.watch(ticket));
    expect(board.count()).toBe(3);
    for (const watch of watches) watch.end();
    expect(board.count()).toBe(0);
  });
});

describe("wake", () => {
  test("says whether somebody here waits for the reply to just this message", () => {
    const watch = board.watch("ticket-1");
    expect(board.wake("ticket-1", "message-1")).toBe(false);
    watch.waitFor("message-1");
    expect(board.wake("ticket-1", "message-1")).toBe(true);
    expect(board.wake("ticket-1", "message-2")).toBe(false);
    expect(board.wake("ticket-1")).toBe(false);
    watch.end();
    expect(board.wake("ticket-1", "message-1")).toBe(false);
  });
});

describe("close", () => {
  test("ends every wait, now and from now on", async () => {
    const waiting = board.watch("ticket-1").next(LONG_MS);
    board.close();
    expect(await waiting).toBe("closed");
    expect(await board.watch("ticket-2").next(LONG_MS)).toBe("closed");
  });
});
