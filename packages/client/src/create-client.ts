import type { DrainAnswer, HttpMethod, MessageRequest } from "@svc/contracts";
import { connectionOf, fillPath } from "./connection.ts";
import type { ClientOptions } from "./connection.ts";
import { drainAnswerOf, drainCall, sendMessage } from "./messages.ts";
import type { DrainOptions, SendOptions, SentMessage } from "./messages.ts";
import { pullModel } from "./pull-model.ts";
import type { PullProgress, PullOptions } from "./pull-model.ts";
import { OPERATIONS } from "./operations.ts";
import type { CallArguments, CallOutput, LooseInput, OperationName } from "./operation-types.ts";
import { callWithRetries } from "./try-call.ts";
import { streamReplies } from "./stream-replies.ts";
import type { ReplyStream, StreamOptions } from "./stream-replies.ts";
import type { CallAnswer, RequestOptions } from "./try-call.ts";

/**
 * A client of the HTTP API (docs/api.md). Every function throws ServiceError if a request fails, or the reason of its
 * `signal` if it is aborted. Requests that are safe to repeat are retried after temporary failures (dropped
 * connections, 429, 502, 503, 504), after `Retry-After` or with exponential backoff.
 */
export interface Client {
  /**
   * Sends a message. Always uses an Idempotency-Key, so that retries do not create duplicates. In mode sync, waits for
   * the reply, at most for the message's `timeoutMs`.
   */
  send(request: MessageRequest, options?: SendOptions): Promise<SentMessage>;
  /** Collects the buffered replies of a chat. */
  drain(chatId: string, options?: DrainOptions): Promise<DrainAnswer>;
  /**
   * Yields the buffered and new replies of a chat, each once and in order, until the reader stops or the signal aborts.
   * Reconnects after dropped connections and restarts of the service. Requesting the next reply acknowledges the
   * previous ones with the next request. Replies arrive over one event stream, or by polling if a proxy does not
   * support streams. Supports one reader at a time; reading the stream again resumes where it stopped, and another
   * process can resume with `after: stream.cursor`.
   */
  stream(chatId: string, options?: StreamOptions): ReplyStream;
  /**
   * Pulls a model to Ollama, or joins a running pull, and yields its progress until the model is installed. Reconnects
   * after dropped connections and restarts of the service. Throws the ServiceError of a failed pull. Stopping the
   * reader does not stop the pull; use `call("cancelPull", …)` to cancel it.
   */
  pullModel(catalogId: string, options?: PullOptions): AsyncIterable<PullProgress>;
  /** Calls an operation by its name in the OpenAPI document, and returns the JSON of the response. */
  call<Name extends OperationName>(name: Name, ...input: CallArguments<Name>): Promise<CallOutput<Name>>;
  /** Sends any request. `path` starts with `/api` and is percent-encoded. */
  request(method: HttpMethod | "HEAD", path: string, options?: RequestOptions): Promise<CallAnswer>;
}

/** Splits `METHOD /path`. */
function partsOf(operation: string): [method: HttpMethod, path: string] {
  const [method = "", path = ""] = operation.split(" ");
  return [method as HttpMethod, path];
}

/** Returns a client, which holds no open resources. Throws ServiceError `invalid_options` for invalid options. */
export function createClient(options: ClientOptions): Client {
  const connection = connectionOf(options);
  return {
    send: (request, sendOptions) => sendMessage(connection, request, sendOptions),
    drain: async (chatId, drainOptions = {}) =>
      drainAnswerOf(await callWithRetries(connection, drainCall(chatId, drainOptions))),
    stream: (chatId, streamOptions) => streamReplies(connection, chatId, streamOptions),
    pullModel: (catalogId, pullOptions) => pullModel(connection, catalogId, pullOptions),
    async call<Name extends OperationName>(name: Name, ...[input]: CallArguments<Name>): Promise<CallOutput<Name>> {
      const { params = {}, ...rest }: LooseInput = input ?? {};
      const [method, path] = partsOf(OPERATIONS[name]);
      const { body } = await callWithRetries(connection, { ...rest, method, path: fillPath(path, params) });
      return body as CallOutput<Name>;
    },
    request: (method, path, requestOptions) => callWithRetries(connection, { ...requestOptions, method, path }),
  };
}
