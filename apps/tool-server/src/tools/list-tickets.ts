import { LIST_LIMITS, textUpTo, ticketItemSchema, ticketStageSchema, ticketStatusSchema } from "@svc/contracts";
import { listTickets as listPage } from "@svc/operations";
import { z } from "zod";
import { describedTool } from "../mcp/tool.ts";
import { READS } from "./annotations.ts";
import { PAGE_ITEMS, pageFields, pageOf } from "./page.ts";

const oneOf = <const Option extends string>(options: readonly Option[]) =>
  z.enum(options, { error: `must be one of ${options.join(", ")}` }).optional();

/** `svc_list_tickets`: the tickets of the project. */
export const listTickets = describedTool({
  name: "svc_list_tickets",
  title: "List tickets",
  description:
    "Lists the tickets of the project, most recently updated first. Filters are combined with AND. Use svc_get_ticket to read a ticket with its messages.",
  scope: "tickets:read",
  input: z.strictObject({
    status: oneOf(ticketStatusSchema.options).describe("Status of the ticket: `pending` waits for the customer."),
    stage: oneOf(ticketStageSchema.options).describe("Stage in the pipeline: `review` waits for an operator."),
    q: textUpTo(LIST_LIMITS.searchMaxChars)
      .optional()
      .describe(
        "Words that all occur in the subject, the messages, the replies or the customer's name. The last word can be a prefix.",
      ),
    ...pageFields,
  }),
  output: pageOf(ticketItemSchema),
  annotations: READS,
  run: (deps, principal, input) => listPage(deps, principal, { ...input, limit: PAGE_ITEMS }),
});
