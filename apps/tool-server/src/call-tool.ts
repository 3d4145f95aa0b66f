import { createHash } from "node:crypto";
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import type { Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { Tool, ToolDeps } from "./tool.ts";

/** Where a failed result tells programs the code of the catalogue and every fault. */
const ERROR_META_KEY = "svc/error";

/**
 * A failure as the result of a tool, so that a model reads it and mends its call: the code of the catalogue, what to do,
 * and each fault of the arguments with its JSON Pointer. For programs the same stands in `_meta`: structured content has
 * to fit the tool's output schema, which a failure does not.
 */
function errorResult({ code, message, errors }: ServiceError): CallToolResult {
  const faults = (errors ?? []).map(
    ({ pointer, detail }) => `- ${pointer === "" ? "the arguments" : pointer}: ${detail}`,
  );
  return {
    content: [{ type: "text", text: [`${code}: ${message}`, ...faults].join("\n") }],
    isError: true,
    _meta: { [ERROR_META_KEY]: { code, detail: message, ...(errors === undefined ? {} : { errors }) } },
  };
}

/** Interval between progress notifications. */
const EVERY_MS = 1_000;

/**
 * Tells a caller who has asked for it (with a `progressToken`) that its call is being worked on: at once, and each second
 * until the answer is called. How much is left nobody knows, so progress only counts up.
 */
function tellProgress({ mcpReq }: ServerContext, text: string, log: Log): () => void {
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

/** Who calls: a key, and which of the clients that use it. */
export interface Caller {
  principal: Principal;
  /** The label that the client was given when it began; null for one that sends none. */
  session: string | null;
}

/** Calls that go on, and the notices that end them. */
interface Cancellations {
  /** Calls `abort` when the call with this id is cancelled, until the answer is called. */
  follow(caller: Caller, requestId: string | number, abort: () => void): () => void;
  /** Ends the call of this caller with this id, on whichever replica it goes on. */
  cancel(caller: Caller, requestId: string | number): void;
  close(): void;
}

/** The label of a session in a header; null where there is none that may be one. */
export function readSession(header: string | undefined): string | null {
  return header !== undefined && SESSION.test(header) ? header : null;
}

/**
 * Clients of the revisions before 2026-07-28 cancel a call by a request of its own, which any replica may get. They number
 * their calls from 0, so a notice is believed only with the session's label, which is drawn for each client and kept by
 * nobody: one client cannot end another's call, not even by the same key.
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

/** What a call of a tool needs besides what the tool does. */
export interface CallContext {
  deps: ToolDeps;
  cancellations: Cancellations;
  /** Aborted some time after the service has begun to stop. */
  closing: AbortSignal;
}

/** Response to calls that cannot finish before shutdown. */
export const stopping = () => new ServiceError("unavailable", "The service is shutting down. Retry in a few seconds.");
const cancelled = (): CallToolResult => ({
  content: [{ type: "text", text: "The call was cancelled." }],
  isError: true,
});

/**
 * Calls a tool. Every failure of the domain is a result that says what to do; what is a fault of the service is in the
 * log, with the request id that the result names. The work ends when the caller hangs up or cancels, and when a
 * service that stops has waited long enough for it.
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
  const finish = tool.waitingFor === undefined ? () => undefined : tellProgress(context, tool.waitingFor, deps.log);
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
