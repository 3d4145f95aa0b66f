import { decideToolCall, getTicket, getToolCall } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { localPrincipal } from "../local-principal.ts";
import { requireId } from "../require-id.ts";
import { renderQuestion } from "../tickets/render-ticket.ts";
import { waitForQueues } from "../wait-for-queues.ts";
import { withResources } from "../with-resources.ts";
import { renderToolCall } from "./render-tool-calls.ts";

/** What can be decided about a call that waits. */
export type ToolCallAction = keyof typeof decideToolCall;

/** What `tool-calls approve|reject` are told. */
export interface DecideOptions {
  project: string;
  yes?: true;
  /** Version of the ticket that was looked at. */
  seen?: number;
}

const QUESTIONS: Record<ToolCallAction, string> = {
  approve: "Approve this tool call?",
  reject: "Reject this tool call?",
};

const DONE: Record<ToolCallAction, string> = {
  approve: "Approved. The tool is called once, and the agent regenerates its draft with the result.",
  reject: "Rejected. The tool is not called, and the agent regenerates its draft without it.",
};

/** `svc tool-calls approve|reject`: shows the call with all its arguments and what waits, asks, and decides about that. */
export async function runDecide(cli: Cli, id: string, options: DecideOptions, action: ToolCallAction): Promise<void> {
  const { project, yes, seen } = options;
  requireId(id, "The ID of a tool call", "tool-calls list");
  const item = await withResources(cli, {}, async (resources) => {
    const { store, queues } = resources;
    const principal = await localPrincipal(store, project);
    const { item: call, version } = await getToolCall({ store }, principal, id);
    // One that does not wait is refused by the operation, which says why.
    const isAsked = yes !== true && call.state === "waiting";
    if (isAsked) {
      const { paint } = cli.terminal;
      const ticket = await getTicket({ store }, principal, call.ticketId);
      cli.terminal.note(`${renderQuestion(ticket, paint)}\n\n${renderToolCall(call, paint, Number.POSITIVE_INFINITY)}`);
      if (!(await confirm(cli, `\n${QUESTIONS[action]}`, "--yes"))) return null;
    }
    // Where the queues are away, the sweeper of the pipeline announces the decision later.
    await waitForQueues(queues);
    const versions = seen === undefined ? (isAsked ? [version] : null) : [seen];
    return decideToolCall[action](resources, principal, id, versions);
  });
  cli.terminal.show({ ok: item !== null, project, action, item }, () =>
    item === null ? "No decision was made." : DONE[action],
  );
}
