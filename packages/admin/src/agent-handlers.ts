import type { AgentCall, AgentChange, AgentInput, ReplayInput, agentEndpoints } from "@svc/contracts";
import {
  createAgent,
  deleteAgent,
  executeAgent,
  getAgent,
  listAgents,
  replayAgent,
  updateAgent,
} from "@svc/operations";
import type { Response } from "express";
import type { AdminHandlers } from "./admin-handler.ts";

/** Aborted when the caller hangs up, and wants no more of it. */
function hangUpOf(response: Response): AbortSignal {
  const hangUp = new AbortController();
  response.once("close", () => hangUp.abort());
  return hangUp.signal;
}

/** Agents (service document, section 4.4). */
export const agentHandlers: AdminHandlers<typeof agentEndpoints> = {
  listAgents: async (context, { principal, listQuery }) => ({
    list: await listAgents(context, principal, listQuery()),
  }),
  async createAgent(context, { principal, body }) {
    const item = await createAgent(context, principal, (await body()) as AgentInput);
    return { item, location: `/api/v1/admin/agents/${item.id}`, version: item.version };
  },
  async getAgent(context, { principal, param }) {
    const item = await getAgent(context, principal, param());
    return { item, version: item.version };
  },
  async updateAgent(context, { principal, param, body, ifMatch }) {
    const item = await updateAgent(context, principal, param(), (await body()) as AgentChange, ifMatch());
    return { item, version: item.version };
  },
  deleteAgent: async (context, { principal, param, ifMatch }) => ({
    item: await deleteAgent(context, principal, param(), ifMatch()),
  }),
  async executeAgent(context, { principal, param, body, response }) {
    const call = (await body()) as AgentCall;
    const result = await executeAgent(context, principal, param(), call, { signal: hangUpOf(response) });
    return { json: { ok: true, ...result } };
  },
  async replayAgent(context, { principal, param, body, response }) {
    const input = (await body()) as ReplayInput;
    const result = await replayAgent(context, principal, param(), input, { signal: hangUpOf(response) });
    return { json: { ok: true, ...result } };
  },
};
