import { toolCallStateSchema } from "@svc/contracts";
import { asAdministrator, requireId, waitForQueues } from "../as-administrator.ts";
import { defineCommand } from "../define-command.ts";
import { defineList } from "../define-resource.ts";
import { choice, projectOption, seenOption, yesOption } from "../options.ts";
import { confirm } from "../read-input.ts";
import { renderQuestion } from "../tickets/render-ticket.ts";
import { describeToolCall, renderToolCall } from "../tickets/render-tool-call.ts";

const list = defineList({
  path: "tool-calls list",
  isOfProject: true,
  isPaged: true,
  description: "list the tool calls of a project's agents, newest first",
  options: {
    state: choice("--state <state>", "only tool calls in this state (default: all)", toolCallStateSchema.options),
  },
  examples: ["tool-calls list --state waiting", "tool-calls list --project shop --json"],
  read: ({ listToolCalls }, { state, limit, cursor }) => listToolCalls({ state, limit, cursor }),
  columns: ["CALL", "TOOL", "STATE, ARGUMENTS AND TICKET"],
  row: (call, paint) => [call.id, `${call.tool}\n${paint.dim(call.access)}`, describeToolCall(call, paint)],
  empty: "No matching tool calls.",
});

type ToolCallAction = "approve" | "reject";

/** Texts of each decision. */
const DECISIONS: Record<ToolCallAction, { description: string; question: string; done: string }> = {
  approve: {
    description: "approve a waiting tool call; the tool is called once",
    question: "Approve this tool call?",
    done: "Approved. The tool is called once, and the agent regenerates its draft with the result.",
  },
  reject: {
    description: "reject a waiting tool call; the tool is not called",
    question: "Reject this tool call?",
    done: "Rejected. The tool is not called, and the agent regenerates its draft without it.",
  },
};

const decide = (action: ToolCallAction) =>
  defineCommand({
    description: DECISIONS[action].description,
    args: { "<callId>": "ID of the tool call, as shown by tool-calls list and tickets show" },
    options: { yes: yesOption, seen: seenOption, project: projectOption },
    about: `Shows the tool call and what is waiting, and asks for confirmation. In scripts, use --yes: the decision applies as long as
the customer has not written since the agent requested the call. With --seen, it applies to that version of the ticket.
`,
    examples: [`tool-calls ${action} 01890a5d-ac96-774b-bcce-b302099a8057`],
    async run(cli, { callId, yes, seen, project }) {
      requireId(callId, "The ID of a tool call", "tool-calls list");
      const item = await asAdministrator(cli, project, async (operations, { resources }) => {
        const { item: call, version } = await operations.getToolCall(callId);
        // The operation rejects a decision about a call that is not waiting, with the reason.
        const isAsked = yes !== true && call.state === "waiting";
        if (isAsked) {
          const { paint } = cli.terminal;
          const question = renderQuestion(await operations.getTicket(call.ticketId), paint);
          cli.terminal.note(`${question}\n\n${renderToolCall(call, paint, Number.POSITIVE_INFINITY)}`);
          if (!(await confirm(cli, `\n${DECISIONS[action].question}`, "--yes"))) return null;
        }
        // If the queues are unavailable, the sweeper of the pipeline announces the decision later.
        await waitForQueues(resources.queues);
        const versions = seen === undefined ? (isAsked ? [version] : null) : [seen];
        return operations[`${action}ToolCall`]({ id: callId, versions });
      });
      cli.terminal.show({ ok: item !== null, project, action, item }, () =>
        item === null ? "No decision was made." : DECISIONS[action].done,
      );
    },
  });

/** `svc tool-calls`: tool calls of agents, and those that wait for an operator. */
export const toolCalls = defineCommand({
  commands: { list, approve: decide("approve"), reject: decide("reject") },
});
