import { expect, test } from "@jest/globals";
import { createLedger, judge, wasAskedTwice } from "../chaos/src/ledger.ts";
import type { Way } from "../chaos/src/ledger.ts";

/** A ledger of two messages in one chat that were both acknowledged, and what shows their answers. */
function twoMessages() {
  const ledger = createLedger();
  const [one, two] = [0, 1].map((position) => {
    const entry = ledger.send({ id: `own-${position}`, channel: "api", chat: "chat", place: position, mode: "sync" });
    ledger.acknowledge(entry, `m${position}`);
    return entry;
  });
  const show = (
    position: number,
    { reply = `r${position}`, seq = position + 1, by = "call" }: { reply?: string; seq?: number; by?: Way } = {},
  ) => ledger.show({ messageId: `m${position}`, replyId: reply, seq, by });
  return { ledger, entries: [one, two], show };
}

test("nothing is wrong when each message was answered once, in its order", () => {
  const { ledger, show } = twoMessages();
  show(0);
  show(1);
  expect(judge(ledger)).toEqual([]);
});

test("a message that nobody acknowledged may stay without an answer", () => {
  const { ledger, show } = twoMessages();
  show(0);
  show(1);
  ledger.send({ id: "own-2", channel: "api", chat: "chat", place: 2, mode: "sync" });
  expect(judge(ledger)).toEqual([]);
});

test("an acknowledged message without an answer is lost", () => {
  const { ledger, show } = twoMessages();
  show(1);
  expect(judge(ledger)).toEqual(["lost: message 0 of chat (own-0)"]);
});

test("two replies to one message are two answers", () => {
  const { ledger, show } = twoMessages();
  show(0);
  show(0, { reply: "another", seq: 2 });
  show(1, { seq: 3 });
  expect(judge(ledger)).toContain("answered twice: message 0 of chat (own-0)");
});

test("one reply in two ways is shown twice, unless its customer asked for it in both", () => {
  const { ledger, entries, show } = twoMessages();
  show(0);
  show(0, { by: "drain" });
  show(1);
  expect(judge(ledger, { mayRepeat: wasAskedTwice })).toEqual(["shown twice: message 0 of chat (own-0)"]);
  const [asked] = entries;
  if (asked !== undefined) ledger.tryAgain(asked);
  expect(judge(ledger)).toEqual(["shown twice: message 0 of chat (own-0)"]);
  expect(judge(ledger, { mayRepeat: wasAskedTwice })).toEqual([]);
});

test("a reply that stands before that of the message before is out of order", () => {
  const { ledger, show } = twoMessages();
  show(0, { seq: 2 });
  show(1, { seq: 1, by: "drain" });
  expect(judge(ledger)).toEqual(["out of order: message 1 of chat (own-1)"]);
});

test("a way of reading that shows a reply after a later one is told of", () => {
  const { ledger, show } = twoMessages();
  show(1, { by: "drain" });
  show(0, { by: "drain" });
  expect(judge(ledger)).toEqual(["shown after a later one by drain: message 0 of chat (own-0)"]);
});

test("an answer that came before its message was acknowledged counts; one to an unknown message is named", () => {
  const ledger = createLedger();
  const entry = ledger.send({ id: "own-0", channel: "widget", chat: "chat", place: 0, mode: "async" });
  ledger.show({ messageId: "m0", replyId: "r0", seq: 1, by: "socket" });
  ledger.show({ messageId: "strange", replyId: "r1", seq: 2, by: "socket" });
  expect(ledger.unasked()).toEqual(["m0", "strange"]);
  ledger.acknowledge(entry, "m0");
  expect([judge(ledger), ledger.unasked()]).toEqual([[], ["strange"]]);
});
