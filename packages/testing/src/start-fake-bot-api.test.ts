import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { FakeBot } from "./bot-api/fake-bot.ts";
import { startFakeBotApi } from "./start-fake-bot-api.ts";
import type { FakeBotApi } from "./start-fake-bot-api.ts";
import { waitFor } from "./wait-for.ts";

let api: FakeBotApi;

beforeAll(async () => {
  api = await startFakeBotApi();
});

afterAll(() => api.close());

interface Answer {
  status: number;
  body: { ok: boolean; result?: unknown; error_code?: number; description?: string; parameters?: object };
}

async function callWith(token: string, method: string, init: RequestInit, at = api): Promise<Answer> {
  const response = await fetch(`${at.url}/bot${token}/${method}`, init);
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const call = (bot: FakeBot, method: string, fields: object = {}, at = api) =>
  callWith(
    bot.token,
    method,
    { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(fields) },
    at,
  );

const idsOf = ({ body }: Answer) => (body.result as { update_id: number }[]).map(({ update_id }) => update_id);
const refused = (code: number, description: string) => ({
  status: code,
  body: { ok: false, error_code: code, description },
});

describe("a token", () => {
  test("is known, unknown, revoked or none at all, with the answers of the Bot API", async () => {
    const bot = api.addBot({ username: "acme_bot" });
    expect(await call(bot, "getMe")).toMatchObject({
      status: 200,
      body: { result: { id: bot.id, username: "acme_bot" } },
    });
    expect(await callWith("99:unknown", "getMe", {})).toEqual(refused(401, "Unauthorized"));
    expect(await callWith("rubbish", "getMe", {})).toEqual(refused(404, "Not Found"));
    bot.setRevoked(true);
    expect(await call(bot, "getMe")).toEqual(refused(401, "Unauthorized"));
  });
});

describe("getUpdates", () => {
  test("gives what is not confirmed, in order, and confirms what lies before the offset", async () => {
    const bot = api.addBot();
    const [first = 0, second = 0, third = 0] = bot.pushAll([
      bot.message({ text: "1" }),
      bot.message({ text: "2" }),
      bot.message({ text: "3" }),
    ]);
    expect(idsOf(await call(bot, "getUpdates", { limit: 2 }))).toEqual([first, second]);
    expect(idsOf(await call(bot, "getUpdates", { offset: first + 1 }))).toEqual([second, third]);
    expect(bot.pending()).toHaveLength(2);
    expect(idsOf(await call(bot, "getUpdates", { offset: third + 1 }))).toEqual([]);
    expect(bot.pending()).toEqual([]);
  });

  test("waits for an update", async () => {
    const bot = api.addBot();
    const poll = call(bot, "getUpdates", { timeout: 50 });
    await waitFor(() => bot.isPolled(), { what: "the poll" });
    const { updateId } = bot.write({ text: "hello" });
    expect(idsOf(await poll)).toEqual([updateId]);
  });

  test("ends the poll that waits when another one comes", async () => {
    const bot = api.addBot();
    const first = call(bot, "getUpdates", { timeout: 50 });
    await waitFor(() => bot.isPolled(), { what: "the poll" });
    const second = call(bot, "getUpdates", { offset: 1, timeout: 50 });
    expect(await first).toEqual(
      refused(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"),
    );
    bot.write({ text: "hello" });
    expect((await second).status).toBe(200);
  });

  test("is refused while a webhook is set", async () => {
    const bot = api.addBot();
    bot.setWebhook("https://example.com");
    expect((await call(bot, "getUpdates")).body.description).toMatch(
      /^Conflict: can't use getUpdates method while webhook/,
    );
    expect((await call(bot, "getWebhookInfo")).body.result).toMatchObject({ url: "https://example.com" });
    await call(bot, "deleteWebhook");
    expect((await call(bot, "getUpdates")).status).toBe(200);
  });

  test("keeps back the kinds that nobody asked for", async () => {
    const bot = api.addBot();
    await call(bot, "getUpdates", { allowed_updates: ["message"] });
    bot.push({ poll: {} });
    const { updateId } = bot.write({ text: "hello" });
    expect(idsOf(await call(bot, "getUpdates", { offset: 1 }))).toEqual([updateId]);
  });

  test("keeps for the next poller what a poller did not hear of", async () => {
    const bot = api.addBot();
    const gone = new AbortController();
    const poll = fetch(`${api.url}/bot${bot.token}/getUpdates?timeout=50`, { signal: gone.signal }).catch(() => "gone");
    await waitFor(() => bot.isPolled(), { what: "the poll" });
    gone.abort();
    expect(await poll).toBe("gone");
    await waitFor(() => !bot.isPolled(), { what: "the poll to be given up" });
    const { updateId } = bot.write({ text: "hello" });
    expect(idsOf(await call(bot, "getUpdates", { offset: 1 }))).toEqual([updateId]);
  });
});

describe("what is sent", () => {
  test.each([
    ["an empty text", { text: "" }, "message text is empty"],
    ["a blank text", { text: " \n" }, "text must be non-empty"],
    ["more than 4,096 units", { text: "😀".repeat(2_049) }, "message is too long"],
    [
      "markup that is wrong",
      { text: "<b>x", parse_mode: "HTML" },
      "can't parse entities: Can't find end tag corresponding to start tag \"b\"",
    ],
    ["another markup", { text: "x", parse_mode: "Rubbish" }, "unsupported parse_mode"],
    ["a reply to nothing", { text: "x", reply_parameters: { message_id: 99 } }, "message to be replied not found"],
    ["an unknown thread", { text: "x", message_thread_id: 99 }, "message thread not found"],
    ["no chat", { text: "x", chat_id: "" }, "chat_id is empty"],
  ])("is refused as %s", async (_, fields, problem) => {
    const bot = api.addBot();
    expect(await call(bot, "sendMessage", { chat_id: 5, ...fields })).toEqual(refused(400, `Bad Request: ${problem}`));
    expect(bot.sent).toEqual([]);
  });

  test("is 4,096 units once its markup is read, and quotes what it answers", async () => {
    const bot = api.addBot();
    const { messageId } = bot.write({ chatId: 5, text: "hello" });
    const text = `<b>${"x".repeat(4_096)}</b>`;
    const fields = { chat_id: "5", text, parse_mode: "HTML", reply_parameters: { message_id: messageId } };
    expect((await call(bot, "sendMessage", fields)).status).toBe(200);
    expect(bot.sent).toMatchObject([{ chatId: "5", text: "x".repeat(4_096), format: "html", replyTo: messageId }]);
  });

  test("is a file, byte by byte, with its name", async () => {
    const bot = api.addBot();
    const form = new FormData();
    form.set("chat_id", "5");
    form.set("caption", "the <i>table</i>");
    form.set("parse_mode", "HTML");
    form.set("document", new Blob([Buffer.from([1, 0, 255])]), "żółć.xlsx");
    expect((await callWith(bot.token, "sendDocument", { method: "POST", body: form })).status).toBe(200);
    expect(bot.sent).toMatchObject([
      { text: "the table", file: { name: "żółć.xlsx", bytes: Buffer.from([1, 0, 255]) } },
    ]);
    form.set("document", new Blob([]), "empty.txt");
    const answer = await callWith(bot.token, "sendDocument", { method: "POST", body: form });
    expect(answer).toEqual(refused(400, "Bad Request: file must be non-empty"));
  });

  test("is rich where the server knows rich messages", async () => {
    const bot = api.addBot();
    const fields = { chat_id: 5, rich_message: { html: "<h1>Hi</h1>" } };
    expect((await call(bot, "sendRichMessage", fields)).status).toBe(200);
    expect(bot.sent).toMatchObject([{ text: "Hi", format: "rich", tags: ["h1"] }]);
    api.setRichMessages(false);
    expect(await call(bot, "sendRichMessage", fields)).toEqual(refused(404, "Not Found: method not found"));
    api.setRichMessages(true);
  });

  test("reaches no chat that is closed", async () => {
    const bot = api.addBot();
    bot.setChatFailure(5, "blocked");
    bot.setChatFailure(-6, { migratedTo: -1_006 });
    const fields = { text: "x", action: "typing" };
    for (const method of ["sendMessage", "sendChatAction"]) {
      expect(await call(bot, method, { ...fields, chat_id: 5 })).toEqual(
        refused(403, "Forbidden: bot was blocked by the user"),
      );
    }
    expect((await call(bot, "sendMessage", { ...fields, chat_id: -6 })).body.parameters).toEqual({
      migrate_to_chat_id: -1_006,
    });
    bot.setChatFailure(5, null);
    expect((await call(bot, "sendChatAction", { ...fields, chat_id: 5 })).status).toBe(200);
    expect(bot.actions).toMatchObject([{ chatId: "5", action: "typing" }]);
  });
});

describe("a file that was sent to a bot", () => {
  const BYTES = Buffer.from("a report");

  test("is served below an address with the token", async () => {
    const bot = api.addBot();
    const { file_id } = bot.offerFile({ bytes: BYTES, name: "report.pdf" });
    const { result } = (await call(bot, "getFile", { file_id })).body;
    const { file_path } = result as { file_path: string };
    const response = await fetch(`${api.url}/file/bot${bot.token}/${file_path}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(BYTES);
    expect((await fetch(`${api.url}/file/bot${bot.token}/other`)).status).toBe(404);
  });

  test("of more than 20 MB is not given", async () => {
    const bot = api.addBot();
    const { file_id } = bot.offerFile({ bytes: BYTES, sizeBytes: 20_000_001 });
    expect(await call(bot, "getFile", { file_id })).toEqual(refused(400, "Bad Request: file is too big"));
  });

  test("lies on the disk of a local server, in the folder of the token", async () => {
    const local = await startFakeBotApi({ server: "local" });
    const bot = local.addBot();
    const { file_id } = bot.offerFile({ bytes: BYTES, sizeBytes: 20_000_001 });
    const { result } = (await call(bot, "getFile", { file_id }, local)).body;
    const { file_path } = result as { file_path: string };
    expect(file_path).toContain(`/${bot.token}/`);
    expect(await readFile(file_path)).toEqual(BYTES);
    await local.close();
  });

  test("of a local server on another machine has a path there, and is served below its end", async () => {
    const elsewhere = await startFakeBotApi({ server: "local-elsewhere" });
    const bot = elsewhere.addBot();
    const { file_id } = bot.offerFile({ bytes: BYTES, name: "report.pdf" });
    const { result } = (await call(bot, "getFile", { file_id }, elsewhere)).body;
    const [, below] = (result as { file_path: string }).file_path.split(`/var/lib/telegram-bot-api/${bot.token}/`);
    const response = await fetch(`${elsewhere.url}/file/bot${bot.token}/${below}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(BYTES);
    await elsewhere.close();
  });
});

describe("what goes wrong", () => {
  const send = (bot: FakeBot) => call(bot, "sendMessage", { chat_id: 5, text: "x" });

  test("is an error in the words that were chosen, with the time to wait", async () => {
    const bot = api.addBot();
    api.failWith(({ chatId }) =>
      chatId === "5"
        ? { kind: "error", code: 429, description: "Too Many Requests: retry after 7", retryAfterS: 7 }
        : null,
    );
    const answer = await send(bot);
    expect(answer).toMatchObject({ status: 429, body: { parameters: { retry_after: 7 } } });
    expect((await call(bot, "getMe")).status).toBe(200);
    api.failWith(null);
    expect((await send(bot)).status).toBe(200);
  });

  test("is cut off before it was done, or after", async () => {
    const bot = api.addBot();
    api.failWith({ kind: "cut" });
    await expect(send(bot)).rejects.toThrow("fetch failed");
    expect(bot.sent).toHaveLength(0);
    api.failWith({ kind: "cut", hasEffect: true });
    await expect(send(bot)).rejects.toThrow("fetch failed");
    expect(bot.sent).toHaveLength(1);
    expect(api.outcomes.at(-1)).toMatchObject({ status: null, call: { method: "sendMessage", chatId: "5" } });
    api.failWith(null);
  });

  test("is garbage, silence, or late", async () => {
    const bot = api.addBot();
    api.failWith({ kind: "garbage" });
    await expect(send(bot)).rejects.toThrow(SyntaxError);
    api.failWith({ kind: "silent" });
    const given = AbortSignal.timeout(50);
    await expect(fetch(`${api.url}/bot${bot.token}/getMe`, { signal: given })).rejects.toThrow();
    api.failWith({ kind: "slow", delayMs: 20 });
    expect((await send(bot)).status).toBe(200);
    api.failWith(null);
  });
});

describe("more than a message a second to a chat", () => {
  test("is noted, and refused where flood control is on", async () => {
    const bot = api.addBot();
    const send = (chat_id: number) => call(bot, "sendMessage", { chat_id, text: "x" });
    const before = api.rateViolations().length;
    await send(5);
    await send(6);
    expect(api.rateViolations()).toHaveLength(before);
    api.setFloodControl(true);
    expect(await send(5)).toMatchObject({ status: 429, body: { parameters: { retry_after: 1 } } });
    api.setFloodControl(false);
    await send(5);
    expect(api.rateViolations().slice(before)).toMatchObject([{ chatId: "5" }]);
  });

  test("is noted for all chats together from the 31st on", async () => {
    const bot = api.addBot();
    const before = api.rateViolations().length;
    for (let chat_id = 1; chat_id <= 31; chat_id++) await call(bot, "sendMessage", { chat_id, text: "x" });
    const found = api.rateViolations().slice(before);
    const [first, last] = [bot.sent[0], bot.sent[30]];
    const isWithin = (last?.atMs ?? 0) - (first?.atMs ?? 0) < 900;
    expect(found).toEqual(isWithin ? [{ chatId: null, withinMs: expect.any(Number) }] : []);
  });
});
