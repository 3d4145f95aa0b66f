import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { BotApiRefusal, tooManyRequests, readPayload } from "./bot-api/read-payload.ts";
import { BOT_METHODS } from "./bot-api/bot-methods.ts";
import type { MethodCall } from "./bot-api/bot-methods.ts";
import { createFakeBot, newToken } from "./bot-api/fake-bot.ts";
import type { BotState, FakeBot } from "./bot-api/fake-bot.ts";
import { MESSAGES_A_SECOND, SECOND_MS, findRateViolations } from "./bot-api/update-queue.ts";
import type { RateViolation } from "./bot-api/update-queue.ts";
import { closerOf, listenOnLoopback, makeTemporaryFolder } from "./child-process.ts";

/**
 * Failure of a call. `error` is a response without effect. `garbage` is not a response of the Bot API. `slow` is
 * delayed. `silent` has no response and `cut` closes the connection: before the effect, or after it if `hasEffect` is
 * true.
 */
export type BotApiFailure =
  | { kind: "error"; code: number; description: string; retryAfterS?: number }
  | { kind: "garbage"; status?: number; body?: string }
  | { kind: "slow"; delayMs: number }
  | { kind: "silent"; hasEffect?: boolean }
  | { kind: "cut"; hasEffect?: boolean };

/** A call that the fake received completely. */
export interface BotApiCall {
  /** Its number among all calls, from 0. */
  index: number;
  /** As called, such as `sendMessage`. */
  method: string;
  botId: number;
  /** Null if it concerns no chat. */
  chatId: string | null;
  fields: Readonly<Record<string, unknown>>;
}

/** Outcome of a call: the status of its response, or null if there was none. */
export interface BotApiOutcome {
  call: BotApiCall;
  status: number | null;
  /** Description of an error. */
  description: string | null;
}

/** Chooses the failure of a call; null for none. */
export type FailureScript = (call: BotApiCall) => BotApiFailure | null;

/** Kind of server: Telegram; or a self-hosted one with `--local`, whose files are on this disk or on its own. */
export type BotApiServerKind = "cloud" | "local" | "local-elsewhere";

/** A fake Bot API with its own bots. */
export interface FakeBotApi {
  /** For `SVC_TELEGRAM_API_ROOT`, such as http://127.0.0.1:20123. */
  readonly url: string;
  /** Registers a bot, like @BotFather. */
  addBot: (options?: { id?: number; username?: string; token?: string }) => FakeBot;
  /** Sets the failure of all later calls; null for none. Silent calls stay silent. */
  failWith: (script: FailureScript | BotApiFailure | null) => void;
  /** Sets whether `sendRichMessage` is supported; true by default. */
  setRichMessages: (isKnown: boolean) => void;
  /** Sets whether more than a message per second to a chat, or 30 to all, is rejected with 429; false by default. */
  setFloodControl: (isOn: boolean) => void;
  /** Completed calls, in order of completion. */
  readonly outcomes: readonly BotApiOutcome[];
  /** Returns violations of Telegram's rate limits by accepted messages, with a tolerance for their time in transit. */
  rateViolations: (toleranceMs?: number) => RateViolation[];
  /** Cuts open connections and frees the port. Idempotent. */
  close: () => Promise<void>;
}

const FIRST_BOT_ID = 7_100_000_001;
const TOLERANCE_MS = 100;
const TOKEN_FORM = /^\d{1,20}:[\w-]{1,100}$/;
const CALL_PATH = /^\/bot([^/]+)\/([^/?]+)$/;
const FILE_PATH = /^\/file\/bot([^/]+)\/(.+)$/;
const NOT_FOUND = new BotApiRefusal(404, "Not Found");
/** Folder of a self-hosted server's files. */
const SERVER_FOLDER = "/var/lib/telegram-bot-api";

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}

function sendRefusal(response: ServerResponse, { code, message, parameters }: BotApiRefusal): void {
  const retryAfter = parameters?.retry_after;
  sendJson(
    response,
    code,
    { ok: false, error_code: code, description: message, ...(parameters === undefined ? {} : { parameters }) },
    retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
  );
}

/**
 * Starts Telegram's Bot API (https://core.telegram.org/bots/api), as far as a messaging service needs it, on a port of
 * 127.0.0.1: with its exact protocol and error messages, and configurable failures. A test file that does not close it
 * fails.
 */
export async function startFakeBotApi(options: { server?: BotApiServerKind } = {}): Promise<FakeBotApi> {
  const { server: kind = "cloud" } = options;
  const folder = kind === "local" ? await makeTemporaryFolder("bot-api") : null;
  const states = new Map<string, BotState>();
  const outcomes: BotApiOutcome[] = [];
  const delays = new Set<() => void>();
  let script: FailureScript = () => null;
  let hasRichMessages = true;
  let hasFloodControl = false;
  let nextBotId = FIRST_BOT_ID;
  let nextIndex = 0;

  const allSent = () => [...states.values()].map(({ sent }) => sent);

  /** @throws BotApiRefusal for an unknown token. */
  function findBot(token: string): BotState {
    if (!TOKEN_FORM.test(token)) throw NOT_FOUND;
    const bot = states.get(token);
    if (bot === undefined || bot.isRevoked) throw new BotApiRefusal(401, "Unauthorized");
    return bot;
  }

  /** @throws BotApiRefusal if this message exceeds the rate limit. */
  function controlFlood(bot: BotState, chatId: string): void {
    const now = performance.now();
    const recent = bot.sent.slice(-MESSAGES_A_SECOND).filter(({ atMs }) => now - atMs < SECOND_MS - TOLERANCE_MS);
    if (recent.length < MESSAGES_A_SECOND && !recent.some((message) => message.chatId === chatId)) return;
    throw tooManyRequests(1);
  }

  function wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        delays.delete(end);
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      delays.add(end);
    });
  }

  /** Performs a call. */
  async function perform(call: Omit<MethodCall, "filePathOf" | "isLocal">): Promise<unknown> {
    const name = call.method.toLowerCase();
    const isUnknown = !Object.hasOwn(BOT_METHODS, name) || (name === "sendrichmessage" && !hasRichMessages);
    const method = isUnknown ? undefined : BOT_METHODS[name];
    if (method === undefined) throw new BotApiRefusal(404, "Not Found: method not found");
    if (hasFloodControl && name.startsWith("send") && name !== "sendchataction") {
      controlFlood(call.bot, String(call.fields["chat_id"]));
    }
    const root = folder === null ? SERVER_FOLDER : folder.path;
    const isLocal = kind !== "cloud";
    const filePathOf = (path: string) => (isLocal ? join(root, call.bot.token, path) : path);
    return await method({ ...call, filePathOf, isLocal });
  }

  async function answerCall(
    request: IncomingMessage,
    response: ServerResponse,
    address: { token: string; method: string; query: URLSearchParams },
  ): Promise<void> {
    const { token, method, query } = address;
    const payload = await readPayload(request, query);
    const bot = findBot(token);
    const chatId = payload.fields["chat_id"];
    const call: BotApiCall = {
      index: nextIndex++,
      method,
      botId: bot.id,
      chatId: typeof chatId === "string" || typeof chatId === "number" ? String(chatId) : null,
      fields: payload.fields,
    };
    const note = (status: number | null, description: string | null = null) =>
      void outcomes.push({ call, status, description });
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const run = () => perform({ ...payload, bot, method, signal: gone.signal });

    const error = script(call);
    try {
      if (error?.kind === "error") {
        const { code, description, retryAfterS } = error;
        throw new BotApiRefusal(
          code,
          description,
          retryAfterS === undefined ? undefined : { retry_after: retryAfterS },
        );
      }
      if (error?.kind === "garbage") {
        const { status = 200, body = "<html><title>Service unavailable" } = error;
        note(status, "garbage");
        response.writeHead(status, { "Content-Type": "text/html" }).end(body);
        return;
      }
      if (error?.kind === "silent" || error?.kind === "cut") {
        if (error.hasEffect === true) await run();
        note(null, error.kind);
        if (error.kind === "cut") response.destroy();
        return;
      }
      if (error?.kind === "slow") {
        await wait(error.delayMs);
        if (response.destroyed) {
          note(null, "given up by the caller");
          return;
        }
      }
      const result = await run();
      note(200);
      sendJson(response, 200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof BotApiRefusal)) throw error;
      note(error.code, error.message);
      sendRefusal(response, error);
    }
  }

  function answerFile(response: ServerResponse, token: string, path: string): void {
    // A server with --local serves no files itself; its administrator runs a file server beside it.
    const files = kind === "local" ? [] : [...findBot(token).files.values()];
    const file = files.find((candidate) => candidate.path === decodeURIComponent(path));
    if (file === undefined) throw NOT_FOUND;
    response.writeHead(200, { "Content-Type": "application/octet-stream" }).end(file.bytes);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://fake.invalid");
    try {
      const [, token = "", method = ""] = CALL_PATH.exec(pathname) ?? [];
      if (method !== "") {
        return await answerCall(request, response, { token: decodeURIComponent(token), method, query: searchParams });
      }
      const [, fileToken = "", path = ""] = FILE_PATH.exec(pathname) ?? [];
      if (path === "") throw NOT_FOUND;
      answerFile(response, decodeURIComponent(fileToken), path);
    } catch (error) {
      if (!(error instanceof BotApiRefusal)) throw error;
      sendRefusal(response, error);
    }
  }

  const server = createServer((request, response) => {
    // The caller of an interrupted request has disconnected; an error of the fake closes the connection.
    answer(request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);
  const url = `http://127.0.0.1:${port}`;
  const close = closerOf(server, `a fake Bot API at ${url}`, async () => {
    for (const end of delays) end();
    await folder?.remove();
  });

  return {
    url,
    addBot({ id = nextBotId++, username = `support_${id}_bot`, token = newToken(id) } = {}) {
      const { bot, state } = createFakeBot({ id, token, username }, folder?.path ?? null);
      states.set(token, state);
      return bot;
    },
    failWith(chosen) {
      script = typeof chosen === "function" ? chosen : () => chosen;
    },
    setRichMessages(isKnown) {
      hasRichMessages = isKnown;
    },
    setFloodControl(isOn) {
      hasFloodControl = isOn;
    },
    outcomes,
    rateViolations: (toleranceMs = TOLERANCE_MS) => allSent().flatMap((sent) => findRateViolations(sent, toleranceMs)),
    close,
  };
}
