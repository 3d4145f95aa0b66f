import { AGENT_LIMITS, LIMITS } from "@svc/contracts";
import type { AgentCall, AgentChange, AgentInput } from "@svc/contracts";
import { methodNotAllowed, readJsonBody } from "@svc/http";
import { createAgent, deleteAgent, executeAgent, getAgent, listAgents, updateAgent } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { IRouter, Request } from "express";
import { sendItem, sendList } from "./admin-answers.ts";
import { forScope } from "./for-scope.ts";
import { readIfMatch } from "./read-if-match.ts";
import { readListQuery } from "./read-list-query.ts";

const PATH = "/api/v1/admin/agents";

const idOf = ({ params }: Request) => String(params["id"]);

/**
 * Agents (service document, section 4.4). Scopes agents:read, agents:write and agents:execute. The operations check what
 * bodies and queries say.
 */
export function addAgentRoutes(routes: IRouter, context: Pick<Resources, "store" | "embeddings">): void {
  routes
    .route(PATH)
    .get(
      forScope("agents:read", async (principal, request, response) => {
        sendList(response, await listAgents(context, principal, readListQuery(request)));
      }),
    )
    .post(
      forScope("agents:write", async (principal, request, response) => {
        const body = (await readJsonBody(request, AGENT_LIMITS.bodyMaxBytes)) as AgentInput;
        const item = await createAgent(context, principal, body);
        sendItem(response, item, { location: `${PATH}/${item.id}`, version: item.version });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  routes
    .route(`${PATH}/:id`)
    .get(
      forScope("agents:read", async (principal, request, response) => {
        const item = await getAgent(context, principal, idOf(request));
        sendItem(response, item, { version: item.version });
      }),
    )
    .patch(
      forScope("agents:write", async (principal, request, response) => {
        const body = (await readJsonBody(request, AGENT_LIMITS.bodyMaxBytes)) as AgentChange;
        const item = await updateAgent(context, principal, idOf(request), body, readIfMatch(request));
        sendItem(response, item, { version: item.version });
      }),
    )
    .delete(
      forScope("agents:write", async (principal, request, response) => {
        sendItem(response, await deleteAgent(context, principal, idOf(request), readIfMatch(request)));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "PATCH", "DELETE"));

  routes
    .route(`${PATH}/:id/execute`)
    .post(
      forScope("agents:execute", async (principal, request, response) => {
        const body = (await readJsonBody(request, LIMITS.bodyMaxBytes)) as AgentCall;
        const result = await executeAgent(context, principal, idOf(request), body);
        response.setHeader("Cache-Control", "no-store");
        response.json({ ok: true, ...result });
      }),
    )
    .all(methodNotAllowed("POST"));
}
