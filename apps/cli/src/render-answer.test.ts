import { describe, expect, test } from "@jest/globals";
import type { ReplyItem } from "@svc/contracts";
import { renderReplies } from "./render-answer.ts";
import { createTerminal } from "./terminal.ts";

const silent = { write: () => true };
const { paint } = createTerminal({ stdout: silent, stderr: silent, isJson: false, env: {} });
const reply = { id: "1", seq: 1, createdAt: "2026-01-01T00:00:00Z", inReplyTo: null };
const source = { title: "Handbook", documentId: "d", chunkId: "c", quote: "Charge it\nfor 95 minutes." };

function message(text: string, more: Partial<Extract<ReplyItem, { type: "message" }>> = {}): ReplyItem {
  return { type: "message", text, markdown: true, author: "agent", ...reply, ...more };
}

describe("an answer", () => {
  test("is followed by its sources with title, address and quote", () => {
    const sources = [source, { ...source, title: "FAQ", url: "https://example.com/faq" }];
    expect(renderReplies([message("95 minutes.", { sources })], paint)).toBe(
      [
        "95 minutes.",
        "",
        "Sources",
        "  1. Handbook",
        "     “Charge it for 95 minutes.”",
        "  2. FAQ https://example.com/faq",
        "     “Charge it for 95 minutes.”",
      ].join("\n"),
    );
  });

  test("of a person says so, and a file is named with its size", () => {
    const file: ReplyItem = {
      type: "attachment",
      filename: "table.xlsx",
      mime: "text/csv",
      base64: "AAAA",
      author: "agent",
      ...reply,
    };
    expect(renderReplies([message("Hello", { author: "operator" }), file], paint)).toBe(
      "From an operator: Hello\n\n[file table.xlsx, text/csv, 3 bytes]",
    );
  });

  test("with escape sequences in text, title, quote or file name leaves the terminal alone", () => {
    const evil = "\u001b[2Jx\u0007\u202e";
    const items: ReplyItem[] = [
      message(evil, { sources: [{ ...source, title: evil, url: evil, quote: evil }] }),
      { type: "attachment", filename: evil, mime: evil, base64: "", author: "agent", ...reply },
    ];
    // oxlint-disable-next-line no-control-regex -- These are what must not come through.
    expect(renderReplies(items, paint)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});
