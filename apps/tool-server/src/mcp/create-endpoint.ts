import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { principalOf } from "@svc/http";
import type { RateLimit } from "@svc/http";
import type { Request, RequestHandler, Response } from "express";
import { fieldOf, readMessages } from "../gate/read-messages.ts";
import type { Messages } from "../gate/read-messages.ts";
import { RpcError, sendRpcError } from "../gate/rpc-error.ts";
import { createCancellations, readSession } from "./cancellations.ts";
import type { Caller } from "./cancellations.ts";
import { stopping } from "./call-tool.ts";
import { createServer } from "./create-server.ts";
import { createRunningCalls } from "./running-calls.ts";
import type { Tool, ToolDeps } from "./tool.ts";

/** Streams of clients that wait for changes of the list of tools, of which there are none while a process runs. */
const MAX_SUBSCRIPTIONS = 200;

const SESSION_HEADER = "Mcp-Session-Id";

/** What goes on when the service stops has so long to come to its end; then it is told to end. */
const FINISH_MS = 2_000;
/** What was told to end has so long to answer. */
const END_MS = 800;

/** What serves the protocol to callers whose key was checked. */
export interface Endpoint {
  answer: RequestHandler;
  /** Gives what goes on two seconds from now; then it answers that the service is being stopped. Safe to call twice. */
  drain(): void;
  /** Waits for what goes on, then ends all streams. What comes later is refused as unavailable. */
  close(): Promise<void>;
}

/**
 * Makes the endpoint of the protocol: the revision of 2026-07-28 and those of 2025 at one address, a server of its own for
 * each request and nothing kept between two, so that any replica answers any of them.
 */
export function createEndpoint(
  deps: ToolDeps,
  { tools, rateLimit }: { tools: readonly Tool[]; rateLimit: RateLimit },
): Endpoint {
  const { log } = deps;
  const running = createRunningCalls();
  const closing = new AbortController();
  let ending: NodeJS.Timeout | undefined;
  let isClosed = false;
  const cancellations = createCancellations(deps.queues);
  const toolOf = new Map(tools.map((tool) => [tool.definition.name, tool]));
  /** The library hands on what it was given with a request as it is; by that the caller is found again. */
  const callers = new WeakMap<AuthInfo, Caller>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const caller = authInfo === undefined ? undefined : callers.get(authInfo);
      if (caller === undefined) throw new Error("a request reached the protocol handler without a caller");
      return createServer(tools, { deps, cancellations, closing: closing.signal }, caller);
    },
    {
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => log.debug({ error }, "tool server request rejected, or client disconnected"),
    },
  );

  /** The scopes of all that is called, before any of it reaches the transport. */
  function checkScopes({ messages }: Messages, principal: Principal): void {
    for (const message of messages) {
      if (fieldOf(message, "method") !== "tools/call") continue;
      const name = fieldOf(fieldOf(message, "params"), "name");
      const tool = typeof name === "string" ? toolOf.get(name) : undefined;
      if (tool !== undefined) requireScope(principal, tool.scope);
    }
  }

  function cancelCalls({ messages }: Messages, caller: Caller): void {
    for (const message of messages) {
      if (fieldOf(message, "method") !== "notifications/cancelled") continue;
      const requestId = fieldOf(fieldOf(message, "params"), "requestId");
      if (typeof requestId === "string" || typeof requestId === "number") cancellations.cancel(caller, requestId);
    }
  }

  async function answer(request: Request, response: Response, finish: () => void): Promise<void> {
    const principal = principalOf(response);
    const read = await readMessages(request);
    // Such a stream does not end by itself.
    if (fieldOf(read.body, "method") === "subscriptions/listen") finish();
    // A batch counts as many requests as it has messages.
    for (const _ of read.messages.slice(1)) await rateLimit.admit(request, response, knownKey(principal));
    checkScopes(read, principal);
    const session = readSession(sessionOf(request));
    const caller = { principal, session };
    cancelCalls(read, caller);
    if (fieldOf(read.body, "method") === "initialize") response.setHeader(SESSION_HEADER, randomUUID());
    const authInfo: AuthInfo = { token: "", clientId: principal.actor, scopes: [...principal.scopes] };
    callers.set(authInfo, caller);
    const serve = toNodeHandler(
      { fetch: (asked, options) => handler.fetch(asked, { ...options, authInfo }) },
      { onerror: (error) => log.error({ error, requestId: principal.requestId }, "tool server error") },
    );
    await serve(request, response, read.body);
  }

  const drain = () => {
    ending ??= setTimeout(() => closing.abort(), FINISH_MS).unref();
  };

  return {
    async answer(request, response) {
      if (isClosed) throw stopping();
      const finish = running.begin();
      try {
        await answer(request, response, finish);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        sendRpcError(response, error);
      } finally {
        finish();
      }
    },
    drain,
    async close() {
      drain();
      // One that does not end when it is told to is not waited for.
      await Promise.race([running.idle(), delay(FINISH_MS + END_MS, undefined, { ref: false })]);
      isClosed = true;
      clearTimeout(ending);
      cancellations.close();
      await handler.close();
    },
  };
}

const sessionOf = (request: Request) => request.headersDistinct["mcp-session-id"]?.[0];

/** The principal as the rate limit counts it. */
function knownKey({ keyId, actor, rateLimit, projectName }: Principal) {
  return { keyId: keyId ?? actor, rateLimit, projectName };
}
