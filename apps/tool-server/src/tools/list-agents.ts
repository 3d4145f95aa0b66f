import { agentSchema } from "@svc/contracts";
import { listAgents as listPage } from "@svc/operations";
import { z } from "zod";
import { describedTool } from "../mcp/tool.ts";
import { READS } from "./annotations.ts";
import { PAGE_ITEMS, pageFields, pageOf } from "./page.ts";

/** `svc_list_agents`: the agents of the project. */
export const listAgents = describedTool({
  name: "svc_list_agents",
  title: "List agents",
  description:
    "Lists the agents of the project, newest first, with their descriptions. Use svc_execute_agent to ask one by its ID.",
  scope: "agents:read",
  input: z.strictObject(pageFields),
  output: pageOf(agentSchema),
  annotations: READS,
  run: (deps, principal, { cursor }) => listPage(deps, principal, { cursor, limit: PAGE_ITEMS }),
});
