import { describe, expect, test } from "@jest/globals";
import type { WidgetReplyItem } from "@svc/contracts";
import type { Entry } from "../state.ts";
import { addMessage, addReply, changeMessage, countUnread, growPartial, MOST_ENTRIES } from "./conversation.ts";

const text = (words: string): WidgetReplyItem => ({ type: "message", text: words, markdown: true });
const file: WidgetReplyItem = { type: "attachment", fileId: "f", filename: "t.xlsx", mime: "x", sizeBytes: 1 };

function reply(entries: Entry[], seq: number, item: WidgetReplyItem, createdAt = `2026-01-01T00:00:${seq + 10}Z`) {
  return addReply(entries, {
    id: `r${seq}`,
    seq,
    data: { items: [item], author: "agent", inReplyTo: null, createdAt },
  });
}

function message(entries: Entry[], seq: number, clientMessageId: string) {
  const data = {
    messageId: `m${seq}`,
    clientMessageId,
    text: clientMessageId,
    attachments: [],
    createdAt: "2026-01-01",
  };
  return addMessage(entries, { seq, data });
}

describe("a conversation", () => {
  test("has each entry once and in order, regardless of repetitions and delays", () => {
    let entries = reply([], 4, text("four"));
    entries = message(entries, 3, "three");
    entries = reply(entries, 2, file);
    entries = message(reply(entries, 4, text("four")), 3, "three");
    expect(entries.map(({ seq }) => seq)).toEqual([2, 3, 4]);
  });

  test("counts an answer with a table and its file as one unread reply, and two answers as two", () => {
    let entries = reply([], 1, text("| a |"), "2026-01-01T00:00:00Z");
    entries = reply(entries, 2, file, "2026-01-01T00:00:00Z");
    expect(countUnread(entries, 0)).toBe(1);
    entries = message(entries, 3, "thanks");
    expect(countUnread(reply(entries, 4, text("Welcome.")), 0)).toBe(2);
    expect(countUnread(reply(entries, 4, text("Welcome.")), 2)).toBe(1);
  });

  test("keeps the newest entries, with unsent messages at the end", () => {
    let entries: Entry[] = [];
    for (let seq = 1; seq <= MOST_ENTRIES + 5; seq++) entries = reply(entries, seq, text(`${seq}`));
    expect(entries[0]?.seq).toBe(6);
    const unsent: Entry = {
      ...(message([], 1, "unsent")[0] as Entry & { kind: "visitor" }),
      seq: null,
      state: "sending",
    };
    entries = reply([...entries, unsent], MOST_ENTRIES + 6, text("last"));
    expect(entries.at(-1)?.key).toBe("unsent");
    entries = changeMessage(entries, "unsent", { seq: MOST_ENTRIES + 7, state: "sent" });
    expect(entries).toHaveLength(MOST_ENTRIES);
    expect(entries.at(-1)).toMatchObject({ key: "unsent", state: "sent" });
  });

  test("shows the unfinished text of a reply by the server's offsets, and nothing if a part is missing", () => {
    expect(growPartial(null, { messageId: "m", offset: 0, text: "It" })).toBe("It");
    expect(growPartial("It is", { messageId: "m", offset: 2, text: " was" })).toBe("It was");
    expect(growPartial("It", { messageId: "m", offset: 5, text: "on" })).toBeNull();
  });
});
