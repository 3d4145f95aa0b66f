import { expect, test } from "@jest/globals";
import { announceReplies, followReplies } from "./finished-messages.ts";
import type { FinishedMessage } from "./finished-messages.ts";

/** Wake-ups of one process, which it receives immediately. */
function wakeUpsOf(maxIdChars: number) {
  const sent: string[] = [];
  const listeners = new Set<(ids: string[]) => void>();
  return {
    sent,
    deliver: (ids = sent.splice(0)) => listeners.forEach((listener) => listener(ids)),
    queues: {
      wakeUps: {
        maxIdChars,
        send: (_topic: string, ids: string[]) => void sent.push(...ids),
        listen(_topic: string, listener: (ids: string[]) => void) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
    },
  };
}

const position = { ticketId: "t-1", inReplyTo: "m-1", author: "agent", createdAt: new Date(1_234) } as const;
const finished: FinishedMessage = {
  messageId: "m-1",
  state: "answered",
  coveredBy: null,
  replies: [
    { ...position, id: "r-1", seq: 2, type: "message", text: "Grüße = 1 €", markdown: true, sources: null },
    {
      ...position,
      id: "r-2",
      seq: 3,
      type: "attachment",
      filename: "a b.xlsx",
      mime: "x/y",
      content: Buffer.from([0, 255]),
    },
  ],
};

function follow(queues: ReturnType<typeof wakeUpsOf>["queues"]) {
  const heard: [string, readonly FinishedMessage[]][] = [];
  followReplies(
    queues,
    (ticketId, messages) => void heard.push([ticketId, messages]),
    (ticketId) => ticketId !== "t-9",
  );
  return heard;
}

test("a finished message arrives with its wake-up as it was sent, and wakes its chat up once", () => {
  const wakeUps = wakeUpsOf(10_000);
  const heard = follow(wakeUps.queues);
  announceReplies(wakeUps.queues, "t-1", finished);
  announceReplies(wakeUps.queues, "t-2");
  announceReplies(wakeUps.queues, "t-9", finished);
  wakeUps.deliver();
  expect(heard).toEqual([
    ["t-1", [finished]],
    ["t-2", []],
  ]);
});

test("a version that knows nothing of carried replies is woken up by the ticket; the ids have no spaces", () => {
  const wakeUps = wakeUpsOf(10_000);
  announceReplies(wakeUps.queues, "t-1", finished);
  expect(wakeUps.sent).toContain("t-1");
  expect(wakeUps.sent.join("")).not.toMatch(/\s/);
});

test("what another version has written in another way wakes the chat up, and is left to be read", () => {
  const wakeUps = wakeUpsOf(10_000);
  const heard = follow(wakeUps.queues);
  announceReplies(wakeUps.queues, "t-1", finished);
  const [carried = ""] = wakeUps.sent;
  for (const unreadable of [carried.slice(0, -9), `${carried.slice(0, 4)}e30`, `${carried.slice(0, 4)}!`]) {
    wakeUps.deliver([unreadable]);
  }
  expect(heard).toEqual([
    ["t-1", []],
    ["t-1", []],
    ["t-1", []],
  ]);
});

test("a message that is too large for a wake-up is left to be read", () => {
  const wakeUps = wakeUpsOf(300);
  const heard = follow(wakeUps.queues);
  announceReplies(wakeUps.queues, "t-1", finished);
  wakeUps.deliver();
  expect(heard).toEqual([["t-1", []]]);
});
