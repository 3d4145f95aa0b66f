import type { DrainAnswer, HttpMethod, MessageRequest } from "@svc/contracts";
import { connectionOf } from "./connection.ts";
import type { ClientOptions } from "./connection.ts";
import { drainAnswerOf, drainCall } from "./drain-chat.ts";
import type { DrainOptions } from "./drain-chat.ts";
import { fillPath } from "./fill-path.ts";
import { pullModel } from "./pull-model.ts";
import type { PullNews, PullOptions } from "./pull-model.ts";
import { OPERATIONS } from "./operations.ts";
import type { CallArguments, CallOutput, LooseInput, OperationName } from "./operation-types.ts";
import { callWithRetries } from "./retry.ts";
import { sendMessage } from "./send-message.ts";
import type { SendOptions, SentMessage } from "./send-message.ts";
import { streamReplies } from "./stream-replies.ts";
import type { ReplyStream, StreamOptions } from "./stream-replies.ts";
import type { CallAnswer, RequestOptions } from "./try-call.ts";

/**
 * A client of the HTTP API (docs/api.md). Every function throws ServiceFault when a call fails, and the reason of its
 * `signal` when that aborts. Calls that cannot do a thing twice are made again when they fail in passing (cut
 * connections, 429, 502, 503, 504), after what `Retry-After` says or longer and longer.
 */
export interface Client {
  /**
   * Sends a message. It is always sent under an Idempotency-Key, so that it becomes one message however often it has to
   * be sent. In mode sync, the call stays open until there is a reply, at most the message's `timeoutMs`.
   */
  send(request: MessageRequest, options?: SendOptions): Promise<SentMessage>;
  /** Collects the replies that wait for a chat. */
  drain(chatId: string, options?: DrainOptions): Promise<DrainAnswer>;
  /**
   * The replies that wait for a chat and those that come, each once and in their order, until the reader breaks off or
   * the signal aborts; for as long as that takes it goes on over cut connections and restarts of the service. Asking for
   * the next reply acknowledges those before, with the next call that is made. They come over one connection as they are
   * made, or where something in between knows no event streams, by a call each. One reader at a time; whoever reads it again goes on where it stopped, and
   * another process goes on with `after: stream.cursor`.
   */
  stream(chatId: string, options?: StreamOptions): ReplyStream;
  /**
   * Pulls a model to Ollama, or joins the pull that goes on, and tells how far it is until it is installed; over cut
   * connections and restarts of the service. Throws the ServiceFault of a pull that fails. The pull goes on when the reader
   * breaks off: `call("cancelPull", …)` ends it.
   */
  pullModel(catalogId: string, options?: PullOptions): AsyncIterable<PullNews>;
  /** Calls an operation by its name in the OpenAPI document, and returns the JSON of the answer. */
  call<Name extends OperationName>(name: Name, ...input: CallArguments<Name>): Promise<CallOutput<Name>>;
  /** Makes any call: `path` from `/api` on, percent-encoded. */
  request(method: HttpMethod | "HEAD", path: string, options?: RequestOptions): Promise<CallAnswer>;
}

/** `METHOD /path` in its parts. */
function partsOf(operation: string): [method: HttpMethod, path: string] {
  const [method = "", path = ""] = operation.split(" ");
  return [method as HttpMethod, path];
}

/** Makes a client; it keeps nothing open. Throws ServiceFault `invalid_options` for what cannot be sent. */
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
