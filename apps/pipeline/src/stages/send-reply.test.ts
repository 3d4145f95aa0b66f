import { describe, expect, test } from "@jest/globals";
import { testLog } from "@svc/testing";
import type { Run, StageContext } from "../run.ts";
import { makeReplyItems } from "./send-reply.ts";

const context = { log: testLog() } as StageContext;
const runOf = (tablesAsXlsx: boolean) =>
  ({ project: { tablesAsXlsx }, message: { channelId: "api", messageId: "message-1" } }) as Run;
const TABLE = "| Plan | Price |\n|---|---:|\n| Basic | 1,234.5 |\n";

describe("makeReplyItems", () => {
  test("returns the message first, unchanged, then each table as an XLSX file", async () => {
    const text = `Intro\r\n\n## Prices\n\n${TABLE}`;
    const items = await makeReplyItems(context, runOf(true), { text, markdown: true });
    expect(items[0]).toEqual({ type: "message", text, markdown: true });
    expect(items.slice(1)).toMatchObject([{ type: "attachment", filename: "prices.xlsx" }]);
  });

  test("returns the sources with the message, and none if there are none", async () => {
    const sources = [{ title: "Guide", documentId: "d", chunkId: "c", quote: "q" }];
    expect(await makeReplyItems(context, runOf(true), { text: "x", markdown: false, sources })).toEqual([
      { type: "message", text: "x", markdown: false, sources },
    ]);
    const [message] = await makeReplyItems(context, runOf(true), { text: "x", markdown: true });
    expect(message).not.toHaveProperty("sources");
  });

  test.each([
    ["the answer is no Markdown", { markdown: false, tablesAsXlsx: true }],
    ["the project does not want it", { markdown: true, tablesAsXlsx: false }],
  ])("gives the message alone when %s", async (_when, { markdown, tablesAsXlsx }) => {
    expect(await makeReplyItems(context, runOf(tablesAsXlsx), { text: TABLE, markdown })).toHaveLength(1);
  });
});
