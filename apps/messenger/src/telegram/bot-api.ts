import { createReadStream } from "node:fs";
import { Agent } from "node:https";
import { isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { Telegram, TelegramError } from "telegraf";

/**
 * Kinds of errors of the Bot API:
 * - `unauthorized`: the token is invalid or revoked.
 * - `conflict`: another poller, or a webhook, receives this bot's updates.
 * - `too_many`: too many requests; `retryAfterMs` is the wait that Telegram requests, if any.
 * - `forbidden`: the bot may not write to the chat: it was blocked or removed, or the account was deleted.
 * - `bad_request`: Telegram rejected the request. With code 404 the server does not know the method.
 * - `too_large`: a file exceeds the limit.
 * - `unreachable`: no usable response: 5xx, invalid JSON, a timeout, a dropped connection, an aborted call. The
 * request may have been carried out all the same.
 */
export type BotApiErrorKind =
  | "unauthorized"
  | "conflict"
  | "too_many"
  | "forbidden"
  | "bad_request"
  | "too_large"
  | "unreachable";

/** Fields of a BotApiError. */
interface BotApiFailure {
  kind: BotApiErrorKind;
  /** Telegram's error_code; null without a readable response. */
  code: number | null;
  /** Text of Telegram or of this service, on one line, without the token. */
  description: string;
  retryAfterMs?: number | null;
  /** ID of the supergroup that this group has become. */
  migrateToChatId?: string;
}

/** A failed call of the Bot API. Neither its message nor any field contains the token or the payload. */
export class BotApiError extends Error {
  readonly kind: BotApiErrorKind;
  /** Telegram's error_code; null without a readable response. */
  readonly code: number | null;
  readonly description: string;
  readonly retryAfterMs: number | null;
  declare readonly migrateToChatId?: string;

  constructor(failure: BotApiFailure) {
    super(`Bot API: ${failure.description}`);
    this.name = "BotApiError";
    this.kind = failure.kind;
    this.code = failure.code;
    this.description = failure.description;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    if (failure.migrateToChatId !== undefined) this.migrateToChatId = failure.migrateToChatId;
  }
}

/** Maximum length of a server's text in logs and states. */
const DESCRIPTION_LIMIT = 300;

/** Maximum wait that Telegram can request, in seconds; longer ones are cut to it. */
const RETRY_AFTER_LIMIT_S = 86_400;

const KIND_OF_CODE: Readonly<Record<number, BotApiErrorKind>> = {
  401: "unauthorized",
  403: "forbidden",
  409: "conflict",
  413: "too_large",
  429: "too_many",
};

/**
 * Converts an error of telegraf. External texts are shortened to one line without the token; the details of
 * telegraf's own errors (the URL with the token, the payload) are dropped.
 */
function classifyFailure(error: unknown, call: { method: string; token: string }): BotApiError {
  if (error instanceof BotApiError) return error;
  if (!(error instanceof TelegramError)) return unreachable("The response cannot be parsed");
  const { error_code: code, description: said, parameters } = readAnswer(error.response);
  if (code === null) return unreachable("The response cannot be parsed");
  const description = cleanText(said, call.token) || `Error ${code}`;
  const retryAfterS = parameters.retry_after;
  return new BotApiError({
    kind: kindOf(code, description, call.method),
    code,
    description,
    retryAfterMs: retryAfterS === null ? null : Math.min(retryAfterS, RETRY_AFTER_LIMIT_S) * 1000,
    ...(parameters.migrate_to_chat_id === null ? {} : { migrateToChatId: String(parameters.migrate_to_chat_id) }),
  });
}

/** Returns the error for an unusable response; `description` is written by this service. */
function unreachable(description: string, code: number | null = null): BotApiError {
  return new BotApiError({ kind: "unreachable", code, description });
}

function kindOf(code: number, description: string, method: string): BotApiErrorKind {
  if (code >= 500) return "unreachable";
  // Telegram responds to a malformed token as to an unknown path.
  if (code === 404 && method === "getMe") return "unauthorized";
  if (code === 400 && /file is too big/i.test(description)) return "too_large";
  return KIND_OF_CODE[code] ?? "bad_request";
}

/** The response is external input and is validated. */
function readAnswer(response: object) {
  const answer: Partial<Record<"error_code" | "description" | "parameters", unknown>> = response;
  const parameters: Partial<Record<string, unknown>> =
    typeof answer.parameters === "object" && answer.parameters !== null ? { ...answer.parameters } : {};
  return {
    error_code: wholeNumber(answer.error_code),
    description: typeof answer.description === "string" ? answer.description : "",
    parameters: {
      retry_after: positive(wholeNumber(parameters["retry_after"])),
      migrate_to_chat_id: wholeNumber(parameters["migrate_to_chat_id"]),
    },
  };
}

const wholeNumber = (value: unknown): number | null => (Number.isSafeInteger(value) ? Number(value) : null);

const positive = (value: number | null): number | null => (value !== null && value >= 0 ? value : null);

function cleanText(text: string, token: string): string {
  const withoutToken = token === "" ? text : text.replaceAll(token, "<token>");
  // Control and format characters could forge or reverse lines of a log.
  return withoutToken
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, DESCRIPTION_LIMIT);
}

/** Location of a file, and how much of it to read. */
interface DownloadOptions {
  /** Root URL of the Bot API, with a slash at its end. */
  root: string;
  token: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Returns the bytes of a file from the response of `getFile`. Telegram and self-hosted servers serve files under
 * their own URL; a self-hosted server with `--local` returns a path on its disk, which is read if this process can
 * read it, and otherwise requested from the server.
 * @throws BotApiError without the URL, which contains the token.
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

/** A local server keeps each bot's files in a folder named after its token. Other paths are rejected. */
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
    // A redirect would not leak the token, but could reach hosts of our network.
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

/** Options of a call. */
interface CallOptions {
  /** Aborts the call, which then rejects with kind `unreachable`. */
  signal?: AbortSignal;
  /** Timeout of the whole call including the response body. Default: 15 s. */
  timeoutMs?: number;
}

/** Telegram's Bot API for one bot. */
export interface BotApi {
  /**
   * Calls a method (https://core.telegram.org/bots/api#making-requests). Files in the payload are `{ source: Buffer,
   * filename }`. Resolves with the `result` of the response, which is external input and not validated.
   * @throws BotApiError, never with a text that contains the token.
   */
  call: <Result>(method: string, payload: object, options?: CallOptions) => Promise<Result>;
  /**
   * Returns the bytes of a file that was sent to the bot.
   * @throws BotApiError, of kind `too_large` if there are more than `maxBytes`.
   */
  download: (fileId: string, options: { maxBytes: number; signal?: AbortSignal }) => Promise<Buffer>;
}

const DEFAULT_TIMEOUT_MS = 15_000;

/** Form of BotFather's tokens: the bot's number, a colon, a secret. Anything else could change the URL. */
const TOKEN_FORM = /^\d{1,20}:[\w-]{1,100}$/;

/** Idle connections are closed after this time, before Telegram closes them during a call. */
const IDLE_MS = 30_000;
const CONNECTIONS = new Agent({ keepAlive: true, timeout: IDLE_MS });

type RawCall = (method: string, payload: object, options: { signal: AbortSignal }) => Promise<unknown>;

/**
 * Creates the client of the Bot API, over telegraf's client: the only code that calls it.
 * @param options.apiRoot URL of the Bot API, such as https://api.telegram.org or that of a self-hosted server; it may
 * have a path.
 */
export function createBotApi({ token, apiRoot }: { token: string; apiRoot: string }): BotApi {
  const root = apiRoot.endsWith("/") ? apiRoot : `${apiRoot}/`;
  const telegram = new Telegram(token, { apiRoot: root, webhookReply: false, agent: CONNECTIONS });
  // Telegraf's types only know the methods of Bot API 7.1; newer ones are called the same way.
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

/** 20 MB over a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 120_000;

function malformedToken(): BotApiError {
  return new BotApiError({
    kind: "unauthorized",
    code: null,
    description: "The bot token does not have Telegram's format",
  });
}

/** Runs `work` with a signal that is aborted by the caller's or after the time limit. Leaves no timer or listener. */
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

/** Telegraf sends a payload with a file as a form, and drops objects from forms unless they are already JSON. */
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
