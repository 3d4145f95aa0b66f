import { randomUUID } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ReplyItem } from "@svc/contracts";
import { startWebhookReceiver, waitFor } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const TABLE = `These are the cities:

| City | People | Note |
|------|-------:|------|
| Oslo | 717710 | =1+1 |
| Rome | 2748109 | "seven" <hills> |
| שלום | 0 | 🙂 |
`;
const TWO_TABLES = "| a |\n|---|\n| 1 |\n\nand\n\n| b |\n|---|\n| 2 |\n";
const PLAIN = "There is no table | here.";

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  receiver = await startWebhookReceiver();
  const { store } = product;
  await addProject(store, "table", { fixedReply: TABLE });
  await addProject(store, "two-tables", { fixedReply: TWO_TABLES });
  await addProject(store, "plain", { fixedReply: PLAIN });
  const without = await addProject(store, "without", { fixedReply: TABLE });
  await store.projects.update(without.id, { tablesAsXlsx: false });
});

afterAll(async () => {
  await receiver.close();
  await product.stop();
});

/** Returns the files of a ZIP archive, from its directory. */
function unzip(archive: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  let position = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const method = archive.readUInt16LE(position + 10);
    const size = archive.readUInt32LE(position + 20);
    const nameLength = archive.readUInt16LE(position + 28);
    const furtherLength = archive.readUInt16LE(position + 30) + archive.readUInt16LE(position + 32);
    const start = archive.readUInt32LE(position + 42);
    const name = archive.toString("utf8", position + 46, position + 46 + nameLength);
    const content = start + 30 + archive.readUInt16LE(start + 26) + archive.readUInt16LE(start + 28);
    const packed = archive.subarray(content, content + size);
    files.set(name, (method === 0 ? packed : inflateRawSync(packed)).toString("utf8"));
    position += 46 + nameLength + furtherLength;
  }
  return files;
}

type Attachment = Extract<ReplyItem, { type: "attachment" }>;
const attachmentsIn = (replies: ReplyItem[]) =>
  replies.filter((reply): reply is Attachment => reply.type === "attachment");

/** Checks that the replies are the text with its table and then the table as a file; returns the file. */
function expectTable(replies: ReplyItem[]): Buffer {
  expect(replies.map(({ type }) => type)).toEqual(["message", "attachment"]);
  const [message, attachment] = replies;
  expect(message).toMatchObject({ text: TABLE, markdown: true, author: "agent" });
  expect(attachment).toMatchObject({
    mime: XLSX,
    filename: expect.stringMatching(/^[^/\\]+\.xlsx$/),
    inReplyTo: message?.inReplyTo,
    author: "agent",
    seq: (message?.seq ?? 0) + 1,
  });
  const base64 = attachmentsIn(replies)[0]?.base64 ?? "";
  const file = Buffer.from(base64, "base64");
  expect(file.toString("base64")).toBe(base64);
  return file;
}

describe("a Markdown table in an answer is also sent as an XLSX file:", () => {
  test("in the response of a sync call, and not again in the drain", async () => {
    const chatId = randomUUID();
    const answer = await api.send("table", { text: "Which cities?", chatId });
    expect(answer.status).toBe(200);
    const files = unzip(expectTable(answer.replies));
    const sheet = files.get("xl/worksheets/sheet1.xml") ?? "";
    // Numbers are numbers, everything else is text: there are no formulas.
    for (const number of [717710, 2748109, 0]) expect(sheet).toContain(`<v>${number}</v>`);
    expect(sheet).not.toContain("<f>");
    const texts = files.get("xl/sharedStrings.xml") ?? sheet;
    for (const text of ["City", "People", "Note", "Oslo", "Rome", "שלום", "🙂", "=1+1", "&lt;hills&gt;"]) {
      expect(texts).toContain(text);
    }
    expect((await api.drain("table", chatId)).replies).toEqual([]);
  });

  test("in the drain of an async message: with peek, by cursor, and plain, with the same bytes each time on each replica", async () => {
    const chatId = randomUUID();
    await api.send("table", { text: "Which cities?", chatId, mode: "async" });
    await waitFor(async () => (await api.drain("table", chatId, "?peek=1")).replies.length === 2, {
      what: "message and attachment",
    });
    const reads = ["?peek=1", "?after=0", "?after=0", ""].map((query, replica) => ({ query, replica }));
    const files: Buffer[] = [];
    for (const { query, replica } of reads) {
      files.push(expectTable((await api.drain("table", chatId, query, { replica })).replies));
    }
    for (const file of files) expect(file.equals(files[0] ?? Buffer.alloc(0))).toBe(true);
    expect((await api.drain("table", chatId)).replies).toEqual([]);
  });

  test("in the drain of a sync call that timed out", async () => {
    const chatId = randomUUID();
    const first = await api.send("table", { text: "Which cities?", chatId, timeoutMs: 1 });
    const replies =
      first.status === 200 ? first.replies : (await api.drain("table", chatId, "?wait=20000", { replica: 1 })).replies;
    expectTable(replies);
    expect((await api.drain("table", chatId)).replies).toEqual([]);
  });

  test("in a callback", async () => {
    const path = `/${randomUUID()}`;
    await api.send("table", { text: "Which cities?", webhookUrl: receiver.url(path) });
    const callback = await receiver.next((request) => request.path === path, { timeoutMs: 20_000 });
    expectTable((callback.json as { replies: ReplyItem[] }).replies);
  });

  test("with one file per table, with different names", async () => {
    const answer = await api.send("two-tables", { text: "hello" });
    expect(answer.replies.map(({ type }) => type)).toEqual(["message", "attachment", "attachment"]);
    const names = attachmentsIn(answer.replies).map(({ filename }) => filename);
    expect(new Set(names).size).toBe(2);
  });
});

test("message and file can be acknowledged one after the other", async () => {
  const chatId = randomUUID();
  await api.send("table", { text: "Which cities?", chatId, mode: "async" });
  await waitFor(async () => (await api.drain("table", chatId, "?peek=1")).replies.length === 2, {
    what: "message and attachment",
  });
  const [message, attachment] = (await api.drain("table", chatId, "?after=0")).replies;
  const rest = await api.drain("table", chatId, `?after=${message?.seq ?? ""}`);
  expect(rest.replies).toEqual([attachment]);
});

test("an answer without a table has no attachment", async () => {
  expect((await api.send("plain", { text: "hello" })).replies.map(({ type }) => type)).toEqual(["message"]);
});

test("a project whose setting tablesAsXlsx is off gets no attachments", async () => {
  const answer = await api.send("without", { text: "Which cities?" });
  expect(answer.texts).toEqual([TABLE]);
  expect(answer.replies.map(({ type }) => type)).toEqual(["message"]);
});
