import { randomUUID } from "node:crypto";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { principalOf } from "@svc/http";
import type { RateLimit } from "@svc/http";
import type { Request, RequestHandler } from "express";
import { fieldOf, readMessages } from "../gate/read-messages.ts";
import type { Messages } from "../gate/read-messages.ts";
import { RpcError, sendRpcError } from "../gate/rpc-error.ts";
import { createCancellations, readSession } from "./cancellations.ts";
import type { Caller } from "./cancellations.ts";
import { createServer } from "./create-server.ts";
import type { Tool, ToolDeps } from "./tool.ts";

/** Streams of clients that wait for changes of the list of tools, of which there are none while a process runs. */
const MAX_SUBSCRIPTIONS = 200;

const SESSION_HEADER = "Mcp-Session-Id";

/** What serves the protocol to callers whose key was checked. */
export interface Endpoint {
  answer: RequestHandler;
  /** Ends what goes on. */
  close(): Promise<void>;
}

/**
 * Makes the endpoint of the protocol: the revision of 2026-07-28 and those of 2025 at one address, a server of its own for
 * each request and nothing kept between two, so that any replica answers any of them.
 */
export function createEndpoint(
  deps: ToolDeps,
  { tools, rateLimit, closing }: { tools: readonly Tool[]; rateLimit: RateLimit; closing: AbortSignal },
): Endpoint {
  const { log } = deps;
  const cancellations = createCancellations(deps.queues);
  const toolOf = new Map(tools.map((tool) => [tool.definition.name, tool]));
  /** The library hands on what it was given with a request as it is; by that the caller is found again. */
  const callers = new WeakMap<AuthInfo, Caller>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const caller = authInfo === undefined ? undefined : callers.get(authInfo);
      if (caller === undefined) throw new Error("a request came to the protocol without its caller");
      return createServer(tools, { deps, cancellations, closing }, caller);
    },
    {
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => log.debug({ error }, "a request of the tool server was refused, or its caller has gone"),
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

  async function answer(...[request, response]: Parameters<RequestHandler>): Promise<void> {
    const principal = principalOf(response);
    const read = await readMessages(request);
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
      { onerror: (error) => log.error({ error, requestId: principal.requestId }, "the tool server failed") },
    );
    await serve(request, response, read.body);
  }

  return {
    async answer(request, response, next) {
      try {
        await answer(request, response, next);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        sendRpcError(response, error);
      }
    },
    async close() {
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
