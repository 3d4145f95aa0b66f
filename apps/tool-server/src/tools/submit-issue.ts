import { issueInputSchema, submittedIssueSchema } from "@svc/contracts";
import { submitIssue as submit } from "@svc/operations";
import { describedTool } from "../mcp/tool.ts";
import { ADDS_ONCE } from "./annotations.ts";

/** `svc_submit_issue`: makes a ticket of an issue. */
export const submitIssue = describedTool({
  name: "svc_submit_issue",
  title: "Submit an issue",
  description:
    "Makes a ticket of an issue in the shared Inbox: it goes to the project of the agent that fits best, and an operator looks at it. Nobody is answered automatically. The same clientIssueId again is the same ticket. Call it only for issues that the person has chosen.",
  scope: "messages:write",
  // An issue of svc_summarize_notes can be handed over as it is: its `quotes` are left aside.
  input: issueInputSchema,
  output: submittedIssueSchema,
  annotations: ADDS_ONCE,
  waitingFor: "The issue is kept; who works on it is being found out",
  run: (deps, principal, input, options) => submit(deps, principal, input, options),
});
