import { REVIEW_INPUTS } from "../review.ts";
import type { ReviewAction } from "../review.ts";
import { ticketItemSchema } from "../ticket-item.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Common fields of all decisions, for the action at the end of the path. */
function decision<Action extends ReviewAction>(action: Action) {
  return {
    method: "POST",
    path: `/api/v1/admin/tickets/{id}/${action}`,
    tag: "Reviews",
    scope: "tickets:write",
    answers: [itemAnswer(ticketItemSchema, { headers: { ETag: "Version of the ticket after the decision." } })],
    errors: ["version_conflict"],
  } as const satisfies Partial<Endpoint>;
}

/** Body of an action that can be omitted. */
const optional = <Action extends ReviewAction>(action: Action) =>
  ({ schema: REVIEW_INPUTS[action], isOptional: true }) as const;

const NOT_OVER_NEWER_MESSAGE =
  "Returns 412, and sends nothing, if the ticket has a different version from the one in `If-Match`, or if the " +
  "customer has sent a message that is not in the ticket yet.";

/** Decisions of operators on tickets. Each decision is applied at most once, or rejected. */
export const reviewEndpoints = {
  approveDraft: {
    ...decision("approve"),
    summary: "Approve the draft",
    description: `${NOT_OVER_NEWER_MESSAGE} Sends the draft unchanged. The reply answers every message that is waiting for an operator, and is delivered like replies to the newest of them.`,
    body: optional("approve"),
    ifMatch: "required",
  },
  editDraft: {
    ...decision("edit"),
    summary: "Edit the draft and send it",
    description: `${NOT_OVER_NEWER_MESSAGE} The author of the reply is \`operator\`, and the ticket is assigned to the operator unless it is already assigned.`,
    body: { schema: REVIEW_INPUTS.edit },
    ifMatch: "required",
    example: { body: { text: "Your parcel left us this morning.", markdown: false } },
  },
  rejectDraft: {
    ...decision("reject"),
    summary: "Dismiss the draft",
    description: `${NOT_OVER_NEWER_MESSAGE} The waiting messages are not answered; senders that use webhooks receive \`message.rejected\`.`,
    body: optional("reject"),
    ifMatch: "required",
    example: { body: { reason: "It was advertising." } },
  },
  regenerateDraft: {
    ...decision("regenerate"),
    summary: "Regenerate the draft",
    description: "The agent drafts a new answer, for example after a change to the agent or its knowledge bases.",
    body: optional("regenerate"),
    ifMatch: true,
  },
  takeOverTicket: {
    ...decision("takeover"),
    summary: "Take over the ticket",
    description: "Assigns the ticket to the caller. While a ticket is assigned, nothing is sent automatically.",
    body: optional("takeover"),
    ifMatch: true,
  },
  assignTicket: {
    ...decision("assign"),
    summary: "Assign the ticket",
    description:
      "While a ticket is assigned, nothing is sent automatically. An operator of the console (`operator:<id>`) must be allowed to answer in the project.",
    body: { schema: REVIEW_INPUTS.assign },
    ifMatch: true,
    example: { body: { assignee: "ada@example.com" } },
  },
  unassignTicket: {
    ...decision("unassign"),
    summary: "Unassign the ticket",
    description:
      "The agent continues, including with waiting messages. If the customer was promised a person, or with `keepsDraft`, the ticket stays in review with its draft.",
    body: optional("unassign"),
    ifMatch: true,
  },
  addNote: {
    ...decision("note"),
    summary: "Add an internal note",
    description: "Notes are events of the ticket and are not visible to the customer.",
    body: { schema: REVIEW_INPUTS.note },
    ifMatch: true,
    example: { body: { text: "Called back, wants it by Friday." } },
  },
  replyToTicket: {
    ...decision("reply"),
    summary: "Reply to the customer",
    description:
      "Answers every message that is waiting for an operator and replaces the draft. If no message is waiting, the reply is delivered like replies to the newest message of the chat. The ticket is assigned to the author unless it is already assigned, so that nothing is sent automatically until it is unassigned or resolved. Send `If-Match` to make sure that a repeated request does not send the reply twice.",
    body: { schema: REVIEW_INPUTS.reply },
    ifMatch: true,
    example: { body: { text: "We have found your parcel." } },
  },
  rerouteTicket: {
    ...decision("reroute"),
    summary: "Route the ticket to another agent or project",
    description:
      "Future routing learns from this decision. If messages are waiting for an operator, the new agent creates a draft. Another project requires a key with `admin:*`; operators of the console need `tickets:write` in that project.",
    body: { schema: REVIEW_INPUTS.reroute },
    ifMatch: true,
    errors: ["version_conflict", "project_mismatch"],
    example: { body: { agentId: null } },
  },
  resolveTicket: {
    ...decision("resolve"),
    summary: "Close the ticket",
    description:
      "Sets the status to `resolved` or `spam`. Waiting messages are not answered. A later message from the customer reopens a resolved ticket.",
    body: optional("resolve"),
    ifMatch: true,
    example: { body: { status: "resolved" } },
  },
  reopenTicket: {
    ...decision("reopen"),
    summary: "Reopen the ticket",
    description:
      "Messages that were unanswered when the ticket was closed wait again, with the previous draft. `restore` also restores the status and the assignee.",
    body: optional("reopen"),
    ifMatch: true,
  },
  retryTicket: {
    ...decision("retry"),
    summary: "Retry failed messages and replies",
    description:
      "Messages that failed five times are processed again. A reply that could not be delivered is sent again.",
    body: optional("retry"),
    ifMatch: true,
  },
} as const satisfies Record<string, Endpoint>;
