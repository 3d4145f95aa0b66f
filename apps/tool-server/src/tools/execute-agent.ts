import { agentCallSchema, agentResultSchema } from "@svc/contracts";
import { executeAgent as execute } from "@svc/operations";
import { z } from "zod";
import { describedTool } from "../mcp/tool.ts";
import { ASKS } from "./annotations.ts";

/** `svc_execute_agent`: asks an agent by itself. */
export const executeAgent = describedTool({
  name: "svc_execute_agent",
  title: "Ask an agent",
  description:
    "Asks an agent of the project and returns its answer with sources and confidence. Nothing is stored: no ticket is created and nothing is sent to a customer. If text is null, the agent has no answer that could be sent without an operator.",
  scope: "agents:execute",
  input: z.strictObject({
    agentId: z.string().describe("ID of the agent, from svc_list_agents."),
    ...agentCallSchema.shape,
  }),
  output: agentResultSchema,
  annotations: ASKS,
  waitingFor: "The agent is writing its answer",
  run: (deps, principal, { agentId, ...call }, options) => execute(deps, principal, agentId, call, options),
});
