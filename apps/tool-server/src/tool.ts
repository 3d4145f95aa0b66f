import { createHash } from "node:crypto";
import type {
  CallToolResult,
  Tool as ToolDefinition,
  ToolAnnotations,
  ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Principal } from "@svc/auth";
import { checkInput, ServiceError } from "@svc/contracts";
import type { RequiredScope } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";

/** Dependencies of tools. */
export type ToolDeps = Pick<Resources, "store" | "queues" | "embeddings" | "models" | "openTools" | "log">;

/** A tool that MCP clients can call. */
export interface Tool {
  /** Scope that a key needs to see and call it. */
  scope: RequiredScope;
  /** Description for clients. */
  definition: ToolDefinition;
  /** Progress message for calls that may take longer than a moment. */
  waitingFor?: string;
  /**
   * Runs the tool. `args` is the caller's unvalidated input; an aborted signal stops the work. Throws ServiceError,
   * whose text says how to fix the call.
   */
  call: (deps: ToolDeps, principal: Principal, args: unknown, signal: AbortSignal) => Promise<CallToolResult>;
}

/** A tool whose input and output are objects with schemas. */
interface DescribedTool<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  scope: RequiredScope;
  input: Input;
  output: Output;
  annotations: Required<Omit<ToolAnnotations, "title">>;
  waitingFor?: string;
  run: (
    deps: ToolDeps,
    principal: Principal,
    input: z.output<Input>,
    options: { signal: AbortSignal },
  ) => Promise<z.output<Output>>;
}

/** Returns the JSON Schema of an object for clients. Outputs are open: later versions may add fields. */
function asJsonSchema(schema: z.ZodObject, io: "input" | "output"): { type: "object"; [keyword: string]: unknown } {
  const json = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return { ...json, type: "object" };
}

/** Returns the result of a tool as data, and as the same JSON for clients that only read text. */
function asResult(data: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(data, null, 2) }], structuredContent: data };
}

/**
 * Creates a tool that validates its input, reports all errors at once, and returns what its output schema describes.
 */
export function describedTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  title,
  description,
  scope,
  input,
  output,
  annotations,
  waitingFor,
  run,
}: DescribedTool<Input, Output>): Tool {
  return {
    scope,
    definition: {
      name,
      title,
      description,
      inputSchema: asJsonSchema(input, "input"),
      outputSchema: asJsonSchema(output, "output"),
      annotations: { title, ...annotations },
    },
    ...(waitingFor === undefined ? {} : { waitingFor }),
    async call(deps, principal, args, signal) {
      const checked = checkInput<z.output<Input>>(input, args, "The call");
      return asResult(await run(deps, principal, checked, { signal }));
    },
  };
}

/** Field of a failed result with the error code and every error, for programs. */
const ERROR_META_KEY = "svc/error";

/**
 * Returns an error as the result of a tool, so that a model can correct its call: the error code, what to do, and each error
 * of the arguments with its JSON Pointer. Programs find the same in `_meta`: structured content must match the tool's output
 * schema, which an error does not.
 */
function errorResult({ code, message, errors }: ServiceError): CallToolResult {
  const problems = (errors ?? []).map(
    ({ pointer, detail }) => `- ${pointer === "" ? "the arguments" : pointer}: ${detail}`,
  );
  return {
    content: [{ type: "text", text: [`${code}: ${message}`, ...problems].join("\n") }],
    isError: true,
    _meta: { [ERROR_META_KEY]: { code, detail: message, ...(errors === undefined ? {} : { errors }) } },
  };
}

/** Interval between progress notifications. */
const EVERY_MS = 1_000;

/**
 * Notifies a caller who has requested it (with a `progressToken`) that its call is in progress: immediately, and each second
 * until the returned function is called. The remaining work is unknown, so progress only counts up.
 */
function notifyProgress({ mcpReq }: ServerContext, text: string, log: Log): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  const tell = () => {
    const message = progress === 0 ? text : `${text} (${progress} s)`;
    mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress, message } })
      .catch((error: unknown) => log.debug({ error }, "failed to send a progress notification"));
    progress++;
  };
  tell();
  const timer = setInterval(tell, EVERY_MS);
  return () => clearInterval(timer);
}

/** Topic of the wake-ups that say which calls were cancelled. */
const TOPIC = "cancelled-tool-calls";
/** What a client may send as the label of its session: visible ASCII (MCP 2025-11-25, Streamable HTTP). */
const SESSION = /^[\u0021-\u007e]{1,128}$/;

/** The caller of a tool: a key, and one of the clients that use it. */
export interface Caller {
  principal: Principal;
  /** Label that the client got when its session began; null if it sends none. */
  session: string | null;
}

/** Running calls, and the notifications that cancel them. */
export interface Cancellations {
  /** Calls `abort` when the call with this ID is cancelled, until the returned function is called. */
  follow: (caller: Caller, requestId: string | number, abort: () => void) => () => void;
  /** Cancels the call of this caller with this ID, on any replica. */
  cancel: (caller: Caller, requestId: string | number) => void;
  close(): void;
}

/** Returns the label of a session in a header; null if it is missing or invalid. */
export function readSession(header: string | undefined): string | null {
  return header !== undefined && SESSION.test(header) ? header : null;
}

/**
 * Clients of the revisions before 2026-07-28 cancel a call with a separate request, which any replica may get. They number
 * their calls from 0, so a cancellation is only accepted with the session's random label, which is not stored: one client
 * cannot cancel another's call, even with the same key.
 */
export function createCancellations(queues: Pick<Queues, "wakeUps">): Cancellations {
  const aborts = new Map<string, () => void>();
  const nameOf = ({ principal, session }: Caller, requestId: string | number) =>
    createHash("sha256")
      .update(JSON.stringify([principal.actor, session, requestId]))
      .digest("base64url");
  const silence = queues.wakeUps.listen(TOPIC, (names) => {
    for (const name of names) aborts.get(name)?.();
  });

  return {
    follow(caller, requestId, abort) {
      if (caller.session === null) return () => undefined;
      const name = nameOf(caller, requestId);
      aborts.set(name, abort);
      return () => {
        if (aborts.get(name) === abort) aborts.delete(name);
      };
    },

    cancel(caller, requestId) {
      if (caller.session === null) return;
      const name = nameOf(caller, requestId);
      const abort = aborts.get(name);
      if (abort === undefined) queues.wakeUps.send(TOPIC, [name]);
      else abort();
    },

    close: silence,
  };
}

/** What the call of a tool needs. */
export interface CallContext {
  deps: ToolDeps;
  cancellations: Cancellations;
  /** Aborted some time after a shutdown has begun. */
  closing: AbortSignal;
}

/** Response to calls that cannot finish before shutdown. */
export const stopping = () => new ServiceError("unavailable", "The service is shutting down. Retry in a few seconds.");
const cancelled = (): CallToolResult => ({
  content: [{ type: "text", text: "The call was cancelled." }],
  isError: true,
});

/**
 * Calls a tool. A ServiceError is a result that says what to do; an unexpected error is logged with the request ID that the
 * result contains. The call is aborted when the caller disconnects or cancels it, and some time after a shutdown has begun.
 */
export async function callTool(
  { deps, cancellations, closing }: CallContext,
  caller: Caller,
  tool: Tool,
  { args, context }: { args: unknown; context: ServerContext },
): Promise<CallToolResult> {
  const { principal } = caller;
  const { mcpReq } = context;
  const ended = new AbortController();
  const signal = AbortSignal.any([mcpReq.signal, ended.signal, closing]);
  const unfollow = cancellations.follow(caller, mcpReq.id, () => ended.abort());
  const finish = tool.waitingFor === undefined ? () => undefined : notifyProgress(context, tool.waitingFor, deps.log);
  try {
    return await tool.call(deps, principal, args, signal);
  } catch (error) {
    if (error instanceof ServiceError) return errorResult(error);
    if (signal.aborted) return closing.aborted ? errorResult(stopping()) : cancelled();
    const { requestId } = principal;
    deps.log.error({ error, requestId, tool: tool.definition.name }, "tool call failed");
    return errorResult(
      new ServiceError("internal", `Internal error. Quote the request ID ${requestId} when you report it.`),
    );
  } finally {
    finish();
    unfollow();
  }
}
