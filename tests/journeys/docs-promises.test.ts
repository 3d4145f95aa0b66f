import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { queryDatabase } from "./support/query-database.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: FIXED });
});

afterAll(() => product?.stop());

/** Ages the rows of a statement by changing their timestamps. */
const age = (statement: string, values: unknown[]) => queryDatabase(product.databaseUrl, statement, values);

describe("a reply that is not collected", () => {
  async function sendAndWait(): Promise<string> {
    const chatId = randomUUID();
    await api.send("fixed", { text: "hello", chatId, mode: "async" });
    const { texts } = await api.drain("fixed", chatId, "?peek=1&wait=30000");
    expect(texts).toEqual([FIXED]);
    return chatId;
  }

  const letPass = (chatId: string, interval: string) =>
    age(
      `UPDATE replies SET created_at = now() - $2::interval
       WHERE ticket_id = (SELECT ticket_id FROM chats WHERE chat_id = $1)`,
      [chatId, interval],
    );

  test.each(["", "?after=0", "?peek=1"])("is in the drain for 7 days, and not afterwards: GET %s", async (query) => {
    const chatId = await sendAndWait();
    await letPass(chatId, "7 days 1 minute");
    expect((await api.drain("fixed", chatId, query)).replies).toEqual([]);
    await letPass(chatId, "6 days 23 hours 59 minutes");
    expect((await api.drain("fixed", chatId, query)).texts).toEqual([FIXED]);
  });

  test("is in its ticket afterwards", async () => {
    const chatId = await sendAndWait();
    await letPass(chatId, "8 days");
    expect((await api.drain("fixed", chatId)).replies).toEqual([]);
    const kept = await queryDatabase(
      product.databaseUrl,
      "SELECT r.text FROM replies r JOIN tickets t ON t.id = r.ticket_id WHERE t.chat_id = $1",
      [chatId],
    );
    expect(kept).toEqual([{ text: FIXED }]);
  });
});

describe("an Idempotency-Key", () => {
  const letPass = (key: string, interval: string) =>
    age("UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key = $1", [key, interval]);

  async function send(key: string, replica = 0) {
    const json = { text: "hello", mode: "async" };
    const { status, headers, body } = await api.send("fixed", json, { replica, headers: { "Idempotency-Key": key } });
    return { status, isReplayed: headers.get("idempotent-replayed") === "true", chatId: body.chatId };
  }

  test("creates one message from many concurrent calls, on every replica", async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, replica) => send(key, replica)));
    const accepted = answers.filter(({ status }) => status === 202);
    // The others arrived while the first one was in progress.
    expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([]);
    expect(accepted.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(new Set(accepted.map(({ chatId }) => chatId)).size).toBe(1);
    const again = await send(key);
    expect(again).toEqual({ status: 202, isReplayed: true, chatId: accepted[0]?.chatId });
    const replies = await api.drain("fixed", again.chatId ?? "", "?wait=30000");
    expect(replies.texts).toEqual([FIXED]);
    expect((await api.drain("fixed", again.chatId ?? "")).replies).toEqual([]);
  });

  test("stands for its message for 24 hours from its first call, and for a new one afterwards", async () => {
    const key = randomUUID();
    const first = await send(key);
    expect(first).toMatchObject({ status: 202, isReplayed: false });
    await letPass(key, "23 hours 59 minutes");
    expect(await send(key)).toEqual({ ...first, isReplayed: true });
    await letPass(key, "24 hours 1 minute");
    const later = await send(key);
    expect(later).toMatchObject({ status: 202, isReplayed: false });
    expect(later.chatId).not.toBe(first.chatId);
  });
});
