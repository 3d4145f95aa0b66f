import { createReadStream } from "node:fs";
import { Agent } from "node:https";
import { isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { Telegram } from "telegraf";
import { BotApiError, classifyFailure, unreachable } from "./bot-api-error.ts";

/** Where a file may be, and how much of it is taken. */
interface DownloadOptions {
  /** The Bot API's root, with a slash at its end. */
  root: string;
  token: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * The bytes of a file by what `getFile` has answered. Telegram, and a self-hosted server, serve it under their own
 * address; a self-hosted server with `--local` answers a path on its own disk instead, which is read when this process
 * can, and asked for under the address otherwise.
 *
 * @throws BotApiError without the address, which has the token in it.
 */
async function downloadFile(file: unknown, options: DownloadOptions): Promise<Buffer> {
  const { path, sizeBytes } = readFileAnswer(file);
  if (sizeBytes !== null && sizeBytes > options.maxBytes) throw tooLarge();
  if (!isAbsolute(path)) return await fetchFile(path, options);
  const below = pathBelowToken(path, options.token);
  if (below === null) throw badFile("The Bot API returned a path outside of its own folder");
  try {
    return await readAtMost(createReadStream(path, { signal: options.signal }), options.maxBytes);
  } catch (error) {
    if (error instanceof BotApiError) throw error;
    return await fetchFile(below, options);
  }
}

function readFileAnswer(file: unknown): { path: string; sizeBytes: number | null } {
  const answer: Partial<Record<"file_path" | "file_size", unknown>> =
    typeof file === "object" && file !== null ? file : {};
  if (typeof answer.file_path !== "string" || answer.file_path === "") throw badFile("The Bot API has no such file");
  return { path: answer.file_path, sizeBytes: typeof answer.file_size === "number" ? answer.file_size : null };
}

/** A local server keeps each bot's files in a folder that is named by its token. Other paths are none of ours. */
function pathBelowToken(path: string, token: string): string | null {
  const parts = path.split("/");
  const index = parts.indexOf(token);
  if (index === -1 || parts.includes("..")) return null;
  return parts.slice(index + 1).join("/");
}

async function fetchFile(path: string, { root, token, maxBytes, signal }: DownloadOptions): Promise<Buffer> {
  const safePath = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  const url = new URL(`./file/bot${token}/${safePath.map(encodeURIComponent).join("/")}`, root);
  let response: Response;
  try {
    // Another address would be given the token by nobody, but would be reached from inside of our network.
    response = await fetch(url, { signal, redirect: "error" });
  } catch {
    throw unreachable("The file could not be downloaded");
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    if (response.status >= 500) throw unreachable("The file could not be downloaded", response.status);
    throw badFile(`The file request returned status ${response.status}`, response.status);
  }
  try {
    return await readAtMost(Readable.fromWeb(response.body), maxBytes);
  } catch (error) {
    throw error instanceof BotApiError ? error : unreachable("The download was interrupted");
  }
}

/** Leaving the loop early destroys the stream, and with it the connection. */
async function readAtMost(stream: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw tooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

const tooLarge = (): BotApiError =>
  new BotApiError({ kind: "too_large", code: null, description: "The file is too large" });

const badFile = (description: string, code: number | null = null): BotApiError =>
  new BotApiError({ kind: "bad_request", code, description });

/** What a call may take besides its payload. */
interface CallOptions {
  /** Cuts the call off; it rejects with kind `unreachable` then. */
  signal?: AbortSignal;
  /** Timeout of the whole call including the response body. Default: 15 s. */
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

/** Idle connections are closed after this time, before Telegram closes them during a call. */
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
