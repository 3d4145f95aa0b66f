import { issueInputSchema, submittedIssueSchema } from "@svc/contracts";
import { submitIssue as submit } from "@svc/operations";
import { describedTool } from "../mcp/tool.ts";
import { ADDS_ONCE } from "./annotations.ts";

/** `svc_submit_issue`: makes a ticket of an issue. */
export const submitIssue = describedTool({
  name: "svc_submit_issue",
  title: "Submit an issue",
  description:
    "Creates a ticket from an issue in the shared inbox. It is routed to the project of the most suitable agent and reviewed by an operator; no reply is sent automatically. Repeating a clientIssueId returns the same ticket. Call it only for issues that the user has selected.",
  scope: "messages:write",
  // An issue of svc_summarize_notes can be handed over as it is: its `quotes` are left aside.
  input: issueInputSchema,
  output: submittedIssueSchema,
  annotations: ADDS_ONCE,
  waitingFor: "The issue is stored; selecting an agent",
  run: (deps, principal, input, options) => submit(deps, principal, input, options),
});
