import { kbItemSchema } from "@svc/contracts";
import { listKbs as listPage } from "@svc/operations";
import { z } from "zod";
import { describedTool } from "../mcp/tool.ts";
import { READS } from "./annotations.ts";
import { PAGE_ITEMS, pageFields, pageOf } from "./page.ts";

/** `svc_list_kbs`: the knowledge bases of the project. */
export const listKbs = describedTool({
  name: "svc_list_kbs",
  title: "List knowledge bases",
  description:
    "Lists the knowledge bases of the project, newest first. Use their IDs to narrow a search with svc_search_kb.",
  scope: "kb:read",
  input: z.strictObject(pageFields),
  output: pageOf(kbItemSchema),
  annotations: READS,
  run: (deps, principal, { cursor }) => listPage(deps, principal, { cursor, limit: PAGE_ITEMS }),
});
