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
    "Asks an agent of the project and answers what it would say, with its sources and how sure it is. Nothing is kept: no ticket is made and no customer gets anything. A null text means that it has no answer that could go out without a person.",
  scope: "agents:execute",
  input: z.strictObject({
    agentId: z.string().describe("Id of the agent, as svc_list_agents shows it."),
    ...agentCallSchema.shape,
  }),
  output: agentResultSchema,
  annotations: ASKS,
  waitingFor: "The agent is working on its answer",
  run: (deps, principal, { agentId, ...call }, options) => execute(deps, principal, agentId, call, options),
});
