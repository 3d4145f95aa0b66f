import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startFakeBotApi, waitFor } from "@svc/testing";
import type { BotApiFailure, FakeBot, FakeBotApi } from "@svc/testing";
import { BotApiError, createBotApi } from "./bot-api.ts";
import type { BotApi } from "./bot-api.ts";

let server: FakeBotApi;
let bot: FakeBot;
let api: BotApi;

beforeAll(async () => {
  server = await startFakeBotApi();
  bot = server.addBot();
  api = createBotApi({ token: bot.token, apiRoot: server.url });
});

afterEach(() => server.failWith(null));

afterAll(async () => await server.close());

async function failureOf(work: Promise<unknown>): Promise<BotApiError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof BotApiError)) throw new Error(`expected a BotApiError, got ${String(error)}`);
  return error;
}

const send = async (options?: { signal?: AbortSignal; timeoutMs?: number }) =>
  await api.call("sendMessage", { chat_id: "4001", text: "secret words" }, options);

test("a call resolves with the answer's result", async () => {
  await expect(api.call("getMe", {})).resolves.toMatchObject({ id: bot.id, is_bot: true });
});

describe("a failed call reports the kind of its error", () => {
  const error = (code: number, description: string, retryAfterS?: number): BotApiFailure => ({
    kind: "error",
    code,
    description,
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  });
  test.each<[string, BotApiFailure, Partial<BotApiError>]>([
    ["401", error(401, "Unauthorized"), { kind: "unauthorized", code: 401 }],
    ["403", error(403, "Forbidden: bot was blocked by the user"), { kind: "forbidden", code: 403 }],
    ["409", error(409, "Conflict: terminated by other getUpdates request"), { kind: "conflict", code: 409 }],
    ["429", error(429, "Too Many Requests: retry after 7", 7), { kind: "too_many", retryAfterMs: 7_000 }],
    ["429 without a time", error(429, "Too Many Requests"), { kind: "too_many", retryAfterMs: null }],
    ["400", error(400, "Bad Request: chat not found"), { kind: "bad_request", code: 400 }],
    ["404 of a method", error(404, "Not Found: method not found"), { kind: "bad_request", code: 404 }],
    ["413", error(413, "Request Entity Too Large"), { kind: "too_large", code: 413 }],
    ["500", error(500, "Internal Server Error"), { kind: "unreachable", code: 500 }],
    ["garbage", { kind: "garbage" }, { kind: "unreachable", code: null }],
    ["garbage that is JSON", { kind: "garbage", body: "null" }, { kind: "unreachable", code: null }],
    ["a refusal without a code", { kind: "garbage", body: '{"ok":false}' }, { kind: "unreachable", code: null }],
    ["a proxy's 502", { kind: "garbage", status: 502 }, { kind: "unreachable", code: 502 }],
    ["a cut connection", { kind: "cut" }, { kind: "unreachable", code: null }],
  ])("%s", async (_, problem, expected) => {
    server.failWith(problem);
    const failure = await failureOf(send());
    expect(failure).toMatchObject(expected);
    for (const message of [failure.message, failure.description, failure.stack, JSON.stringify(failure)]) {
      expect(message).not.toContain(bot.token);
      expect(message).not.toContain("secret words");
    }
  });

  test("an unreachable server", async () => {
    const away = createBotApi({ token: bot.token, apiRoot: "http://127.0.0.1:1" });
    const failure = await failureOf(away.call("getMe", {}));
    expect(failure).toMatchObject({ kind: "unreachable", code: null });
    expect(failure.message).not.toContain(bot.token);
  });

  test("a server that does not respond in time", async () => {
    server.failWith({ kind: "silent" });
    const failure = await failureOf(send({ timeoutMs: 50 }));
    expect(failure).toMatchObject({ kind: "unreachable", description: "No response within 50 ms" });
  });

  test("a call that its signal aborts", async () => {
    server.failWith({ kind: "silent" });
    const controller = new AbortController();
    const before = server.outcomes.length;
    const failing = failureOf(send({ signal: controller.signal }));
    await waitFor(() => server.outcomes.length > before, { what: "the call to arrive" });
    controller.abort();
    await expect(failing).resolves.toMatchObject({ kind: "unreachable", description: "The connection dropped" });
    await expect(failureOf(send({ signal: controller.signal }))).resolves.toMatchObject({ kind: "unreachable" });
  });

  test("an unknown and a malformed token", async () => {
    const unknown = createBotApi({ token: "7:unknown", apiRoot: server.url });
    await expect(failureOf(unknown.call("getMe", {}))).resolves.toMatchObject({ kind: "unauthorized", code: 401 });
    const none = createBotApi({ token: "../admin?x=", apiRoot: server.url });
    await expect(failureOf(none.call("getMe", {}))).resolves.toMatchObject({ kind: "unauthorized", code: null });
    await expect(failureOf(none.download("x", { maxBytes: 1 }))).resolves.toMatchObject({ kind: "unauthorized" });
  });

  test("404 of getMe as a malformed token", async () => {
    server.failWith(error(404, "Not Found"));
    await expect(failureOf(api.call("getMe", {}))).resolves.toMatchObject({ kind: "unauthorized", code: 404 });
  });

  test("a description without its token and forged lines", async () => {
    server.failWith(error(400, `Bad ${bot.token}\n\u202E2026 ERROR forged ${"x".repeat(1_000)}`));
    const { description } = await failureOf(send());
    expect(description).toMatch(/^Bad <token> 2026 ERROR forged x{200,}$/);
    expect(description.length).toBeLessThanOrEqual(300);
  });

  test("a group that has become a supergroup", async () => {
    bot.setChatFailure(-77, { migratedTo: -100_077 });
    const failure = await failureOf(api.call("sendMessage", { chat_id: "-77", text: "x" }));
    expect(failure).toMatchObject({ kind: "bad_request", migrateToChatId: "-100077" });
  });
});

describe("a file is downloaded", () => {
  const bytes = Buffer.from("%PDF-1.7 of some bytes");

  test("from the Bot API's address", async () => {
    const { file_id } = bot.offerFile({ bytes, name: "ä b.pdf" });
    await expect(api.download(file_id, { maxBytes: 100 })).resolves.toEqual(bytes);
  });

  test("but not beyond the limit, whatever size was reported", async () => {
    const { file_id } = bot.offerFile({ bytes, sizeBytes: 3 });
    await expect(failureOf(api.download(file_id, { maxBytes: 5 }))).resolves.toMatchObject({ kind: "too_large" });
    const said = bot.offerFile({ bytes, sizeBytes: 500 });
    await expect(failureOf(api.download(said.file_id, { maxBytes: 100 }))).resolves.toMatchObject({
      kind: "too_large",
    });
  });

  test("and a deleted file, or one too large for the Bot API, has its own error", async () => {
    await expect(failureOf(api.download("none", { maxBytes: 5 }))).resolves.toMatchObject({ kind: "bad_request" });
    const big = bot.offerFile({ bytes, sizeBytes: 30_000_000 });
    await expect(failureOf(api.download(big.file_id, { maxBytes: 1e9 }))).resolves.toMatchObject({ kind: "too_large" });
  });

  test.each(["local", "local-elsewhere"] as const)("from a self-hosted server of the kind %s", async (kind) => {
    const own = await startFakeBotApi({ server: kind });
    try {
      const ownBot = own.addBot();
      const { file_id } = ownBot.offerFile({ bytes, name: "a.pdf" });
      const ownApi = createBotApi({ token: ownBot.token, apiRoot: own.url });
      await expect(ownApi.download(file_id, { maxBytes: 100 })).resolves.toEqual(bytes);
      await expect(failureOf(ownApi.download(file_id, { maxBytes: 5 }))).resolves.toMatchObject({ kind: "too_large" });
    } finally {
      await own.close();
    }
  });

  test.each(["/etc/hostname", "/srv/TOKEN/../../etc/hostname"])("but never from %s", async (path) => {
    const result = { file_id: "x", file_path: path.replace("TOKEN", bot.token), file_size: 1 };
    server.failWith({ kind: "garbage", body: JSON.stringify({ ok: true, result }) });
    const failure = await failureOf(api.download("x", { maxBytes: 1_000 }));
    expect(failure).toMatchObject({
      kind: "bad_request",
      description: "The Bot API returned a path outside of its own folder",
    });
  });
});

test("a form contains every value but files as JSON", async () => {
  const sent = api.call("sendDocument", {
    chat_id: "4001",
    document: { source: Buffer.from("x"), filename: "Größe.txt" },
    reply_parameters: { message_id: 1, allow_sending_without_reply: true },
  });
  await expect(sent).resolves.toMatchObject({ document: { file_name: "Größe.txt", file_size: 1 } });
});
