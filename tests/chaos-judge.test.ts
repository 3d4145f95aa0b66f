import { expect, test } from "@jest/globals";
import { createLedger, judge, wasAskedTwice } from "../chaos/src/ledger.ts";
import type { Way } from "../chaos/src/ledger.ts";

/** A ledger of two acknowledged messages in one chat, and the ways in which their answers are read. */
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

test("reports nothing if each message was answered once, in order", () => {
  const { ledger, show } = twoMessages();
  show(0);
  show(1);
  expect(judge(ledger)).toEqual([]);
});

test("allows a message that was not acknowledged to have no answer", () => {
  const { ledger, show } = twoMessages();
  show(0);
  show(1);
  ledger.send({ id: "own-2", channel: "api", chat: "chat", place: 2, mode: "sync" });
  expect(judge(ledger)).toEqual([]);
});

test("reports an acknowledged message without an answer as lost", () => {
  const { ledger, show } = twoMessages();
  show(1);
  expect(judge(ledger)).toEqual(["lost: message 0 of chat (own-0)"]);
});

test("reports two replies to one message as two answers", () => {
  const { ledger, show } = twoMessages();
  show(0);
  show(0, { reply: "another", seq: 2 });
  show(1, { seq: 3 });
  expect(judge(ledger)).toContain("answered twice: message 0 of chat (own-0)");
});

test("reports a reply that was delivered in two ways as shown twice, unless its customer requested both", () => {
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

test("reports a reply that precedes the reply to the previous message as out of order", () => {
  const { ledger, show } = twoMessages();
  show(0, { seq: 2 });
  show(1, { seq: 1, by: "drain" });
  expect(judge(ledger)).toEqual(["out of order: message 1 of chat (own-1)"]);
});

test("names a way of reading that shows a reply after a later one", () => {
  const { ledger, show } = twoMessages();
  show(1, { by: "drain" });
  show(0, { by: "drain" });
  expect(judge(ledger)).toEqual(["shown after a later one by drain: message 0 of chat (own-0)"]);
});

test("counts an answer that arrived before its message was acknowledged, and names an answer to an unknown message", () => {
  const ledger = createLedger();
  const entry = ledger.send({ id: "own-0", channel: "widget", chat: "chat", place: 0, mode: "async" });
  ledger.show({ messageId: "m0", replyId: "r0", seq: 1, by: "socket" });
  ledger.show({ messageId: "strange", replyId: "r1", seq: 2, by: "socket" });
  expect(ledger.unasked()).toEqual(["m0", "strange"]);
  ledger.acknowledge(entry, "m0");
  expect([judge(ledger), ledger.unasked()]).toEqual([[], ["strange"]]);
});
