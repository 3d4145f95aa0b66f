import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { renderFacts, renderTable, renderReplies } from "./render-table.ts";
import type { ReplyItem } from "@svc/contracts";
import { createTerminal } from "./terminal.ts";

describe("a table", () => {
  test("has aligned columns and no trailing spaces", () => {
    const rows = [
      ["a.md", "12", "added"],
      ["handbook.md", "3", "unchanged"],
    ];
    expect(renderTable(["FILE", "CHUNKS", "RESULT"], rows, 80)).toBe(
      ["FILE         CHUNKS  RESULT", "a.md         12      added", "handbook.md  3       unchanged"].join("\n"),
    );
  });

  test("wraps its last column to the width of the terminal", () => {
    const lines = renderTable(["ID", "WHY"], [["1", "a long reason that does not fit into one line"]], 34).split("\n");
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(34);
  });

  test("is as wide with colors as without", () => {
    const widest = (state: string) =>
      Math.max(
        ...renderTable(["STATE", "WHY"], [[state, "a long reason that does not fit into one line"]], 44)
          .split("\n")
          .map((line) => stripVTControlCharacters(line).length),
      );
    expect(widest("\u001b[31mdead\u001b[39m")).toBe(widest("dead"));
  });
});

describe("facts", () => {
  test("are one below the other, with multi-line values in their column", () => {
    expect(
      renderFacts(
        [
          ["Key", "abc\nkeep it"],
          ["Folder", "/data"],
        ],
        "  ",
      ),
    ).toBe(["  Key     abc", "          keep it", "  Folder  /data"].join("\n"));
  });
});

const silent = { write: () => true };
const { paint } = createTerminal({ stdout: silent, stderr: silent, isJson: false, env: {} });
const reply = { id: "1", seq: 1, createdAt: "2026-01-01T00:00:00Z", inReplyTo: null };
const source = { title: "Handbook", documentId: "d", chunkId: "c", quote: "Charge it\nfor 95 minutes." };

function message(text: string, more: Partial<Extract<ReplyItem, { type: "message" }>> = {}): ReplyItem {
  return { type: "message", text, markdown: true, author: "agent", ...reply, ...more };
}

describe("an answer", () => {
  test("is followed by its sources with title, URL and quote", () => {
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

  test("of a person is marked, and a file is shown with its size", () => {
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

  test("has escape sequences in text, title, quote and file name removed", () => {
    const evil = "\u001b[2Jx\u0007\u202e";
    const items: ReplyItem[] = [
      message(evil, { sources: [{ ...source, title: evil, url: evil, quote: evil }] }),
      { type: "attachment", filename: evil, mime: evil, base64: "", author: "agent", ...reply },
    ];
    // oxlint-disable-next-line no-control-regex -- Matches the characters that must not occur.
    expect(renderReplies(items, paint)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});
