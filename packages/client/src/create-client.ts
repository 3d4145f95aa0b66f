import type { DrainAnswer, ENDPOINTS, HttpMethod, MessageRequest } from "@svc/contracts";
import { connectionOf, fillPath } from "./connection.ts";
import type { ClientOptions } from "./connection.ts";
import { OPERATIONS } from "./operations.ts";
import { pullModel } from "./pull-model.ts";
import type { PullOptions, PullProgress } from "./pull-model.ts";
import { drainAnswerOf, drainCall, sendMessage, streamReplies } from "./stream-replies.ts";
import type { DrainOptions, ReplyStream, SendOptions, SentMessage, StreamOptions } from "./stream-replies.ts";
import { callWithRetries } from "./try-call.ts";
import type { CallAnswer, Query, RequestOptions } from "./try-call.ts";

type Endpoints = typeof ENDPOINTS;

/** Names of the operations for `Client.call`, as in the OpenAPI document. */
export type OperationName = Extract<keyof Endpoints, keyof typeof OPERATIONS>;

/** Input and output type of a schema. */
interface SchemaTypes {
  _zod: { input: unknown; output: unknown };
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

type ParamsPart<Path extends string> = [ParamName<Path>] extends [never]
  ? unknown
  : { params: Record<ParamName<Path>, string> };

/** Query parameters are strings; numeric ones can also be given as numbers. */
type QueryValues<Values> = {
  [Name in keyof Values]: string extends Values[Name] ? Values[Name] | number : Values[Name];
};

type QueryPart<Endpoint> = Endpoint extends { query: { _zod: { input: infer Values } } }
  ? Partial<Values> extends Values
    ? { query?: QueryValues<Values> }
    : { query: QueryValues<Values> }
  : unknown;

type BodyPart<Endpoint> = Endpoint extends { body: { schema: SchemaTypes } & (infer Body) }
  ? Body extends { isOptional: true }
    ? { body?: Endpoint["body"]["schema"]["_zod"]["input"] }
    : Body extends { otherTypes: object }
      ? { body: Endpoint["body"]["schema"]["_zod"]["input"] } | { form: FormData }
      : { body: Endpoint["body"]["schema"]["_zod"]["input"] }
  : unknown;

/** A version number, or an `ETag`. */
type IfMatchPart<Endpoint> = Endpoint extends { ifMatch: "required" }
  ? { ifMatch: number | string }
  : Endpoint extends { ifMatch: true }
    ? { ifMatch?: number | string }
    : unknown;

/** Input of an operation. */
export type CallInput<Name extends OperationName> = ParamsPart<Endpoints[Name]["path"]> &
  QueryPart<Endpoints[Name]> &
  BodyPart<Endpoints[Name]> &
  IfMatchPart<Endpoints[Name]> & { signal?: AbortSignal };

/** Optional if no field of the input is required. */
export type CallArguments<Name extends OperationName> =
  Partial<CallInput<Name>> extends CallInput<Name> ? [input?: CallInput<Name>] : [input: CallInput<Name>];

/** JSON output of an operation. */
export type CallOutput<Name extends OperationName> = Endpoints[Name]["answers"][number] extends { schema: infer Schema }
  ? Schema extends { _zod: { output: infer Output } }
    ? Output
    : null
  : never;

/** The same input without specific types. */
interface LooseInput {
  params?: Readonly<Record<string, string>>;
  query?: Query;
  body?: unknown;
  form?: FormData;
  ifMatch?: number | string;
  signal?: AbortSignal;
}

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
