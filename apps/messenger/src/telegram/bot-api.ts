import { Agent } from "node:https";
import { Telegram } from "telegraf";
import { classifyFailure, unreachable } from "./classify-failure.ts";
import { downloadFile } from "./download-file.ts";
import { BotApiError } from "./bot-api-error.ts";

/** What a call may take besides its payload. */
export interface CallOptions {
  /** Cuts the call off; it rejects with kind `unreachable` then. */
  signal?: AbortSignal;
  /** The whole call, with the body of its answer; 15 s unless told. */
  timeoutMs?: number;
}

/** The bot's side of Telegram's Bot API. */
export interface BotApi {
  /**
   * One call of a method (https://core.telegram.org/bots/api#making-requests). Files in the payload are
   * `{ source: Buffer, filename }`. Resolves with the answer's `result`; it comes from outside and is not checked.
   *
   * @throws BotApiError; never with a text that holds the token.
   */
  call: <Result>(method: string, payload: object, options?: CallOptions) => Promise<Result>;
  /**
   * The bytes of a file that was sent to the bot.
   *
   * @throws BotApiError, of kind `too_large` when there are more than `maxBytes`.
   */
  download: (fileId: string, options: { maxBytes: number; signal?: AbortSignal }) => Promise<Buffer>;
}

const DEFAULT_TIMEOUT_MS = 15_000;

/** What BotFather gives: the bot's number, a colon, a secret. Anything else would be part of an address of its own. */
const TOKEN_FORM = /^\d{1,20}:[\w-]{1,100}$/;

/** Connections that nobody used for this long are closed here, before Telegram does so in the middle of a call. */
const IDLE_MS = 30_000;
const CONNECTIONS = new Agent({ keepAlive: true, timeout: IDLE_MS });

type RawCall = (method: string, payload: object, options: { signal: AbortSignal }) => Promise<unknown>;

/**
 * The one place that talks to the Bot API, over telegraf's client.
 *
 * @param options.apiRoot where the Bot API is, such as https://api.telegram.org or a self-hosted server of it; a path
 *   in it is kept.
 */
export function createBotApi({ token, apiRoot }: { token: string; apiRoot: string }): BotApi {
  const root = apiRoot.endsWith("/") ? apiRoot : `${apiRoot}/`;
  const telegram = new Telegram(token, { apiRoot: root, webhookReply: false, agent: CONNECTIONS });
  // Telegraf types the methods of Bot API 7.1 alone; newer ones are called the same way.
  const callApi = telegram.callApi.bind(telegram) as RawCall;

  async function call<Result>(method: string, payload: object, options: CallOptions = {}): Promise<Result> {
    if (!TOKEN_FORM.test(token)) throw malformedToken();
    return await withTimeLimit(options, async (signal) => {
      try {
        return (await callApi(method, readyForForm(payload), { signal })) as Result;
      } catch (error) {
        throw classifyFailure(error, { method, token });
      }
    });
  }

  return {
    call,
    download: async (fileId, { maxBytes, signal }) => {
      const file = await call<unknown>("getFile", { file_id: fileId }, signal === undefined ? {} : { signal });
      return await withTimeLimit(
        { timeoutMs: DOWNLOAD_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) },
        async (limit) => await downloadFile(file, { root, token, maxBytes, signal: limit }),
      );
    },
  };
}

/** 20 MB over a slow line. */
const DOWNLOAD_TIMEOUT_MS = 120_000;

function malformedToken(): BotApiError {
  return new BotApiError({
    kind: "unauthorized",
    code: null,
    description: "The bot token does not have Telegram's format",
  });
}

/** Runs `work` with a signal that ends with the caller's, or after the time limit. Leaves nothing behind. */
async function withTimeLimit<Result>(
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: CallOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const isCutOff = () => signal?.aborted ?? false;
  if (isCutOff()) throw unreachable("The connection dropped");
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    throw unreachable(isCutOff() ? "The connection dropped" : `No response within ${timeoutMs} ms`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Telegraf sends a payload with a file in it as a form, and drops objects from forms unless they are JSON already. */
function readyForForm(payload: object): object {
  const entries = Object.entries(payload);
  if (!entries.some(([, value]) => isFile(value))) return payload;
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === "object" && value !== null && !isFile(value) ? JSON.stringify(value) : value,
    ]),
  );
}

const isFile = (value: unknown): boolean => typeof value === "object" && value !== null && "source" in value;
