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
    "Lists the tickets that the project works on, the newest change first. All filters hold together; svc_get_ticket reads one with its messages.",
  scope: "tickets:read",
  input: z.strictObject({
    status: oneOf(ticketStatusSchema.options).describe("What people see: `pending` waits for the customer."),
    stage: oneOf(ticketStageSchema.options).describe("Where the pipeline is with it: `review` waits for an operator."),
    q: textUpTo(LIST_LIMITS.searchMaxChars)
      .optional()
      .describe(
        "Words that all stand in the subject, the messages, the replies or the customer's name; the last one may be the beginning of a word.",
      ),
    ...pageFields,
  }),
  output: pageOf(ticketItemSchema),
  annotations: READS,
  run: (deps, principal, input) => listPage(deps, principal, { ...input, limit: PAGE_ITEMS }),
});
