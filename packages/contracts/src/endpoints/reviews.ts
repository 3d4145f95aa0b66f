import { REVIEW_INPUTS } from "../review.ts";
import type { ReviewAction } from "../review.ts";
import { ticketItemSchema } from "../ticket-item.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** What all decisions have in common, for the action at the end of the path. */
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

/** The body of an action that may come without one. */
const optional = <Action extends ReviewAction>(action: Action) =>
  ({ schema: REVIEW_INPUTS[action], isOptional: true }) as const;

const NOT_OVER_NEWER_MESSAGE =
  "Refused with 412, and nothing is sent, when the ticket has another version than `If-Match` names, or when the " +
  "customer has written something that is not in the ticket yet.";

/** What operators decide about tickets: each decision counts once, or is refused. */
export const reviewEndpoints = {
  approveDraft: {
    ...decision("approve"),
    summary: "Send the draft as it is",
    description: `${NOT_OVER_NEWER_MESSAGE} The reply answers every message that waits for a person, by the way of the newest of them.`,
    body: optional("approve"),
    ifMatch: "required",
  },
  editDraft: {
    ...decision("edit"),
    summary: "Send a text in the draft's place",
    description: `${NOT_OVER_NEWER_MESSAGE} The reply's author is \`operator\`, and the ticket is assigned to them unless somebody has it.`,
    body: { schema: REVIEW_INPUTS.edit },
    ifMatch: "required",
    example: { body: { text: "Your parcel left us this morning.", markdown: false } },
  },
  rejectDraft: {
    ...decision("reject"),
    summary: "Give no answer",
    description: `${NOT_OVER_NEWER_MESSAGE} The messages that wait end without a reply; senders by webhook hear \`message.rejected\`.`,
    body: optional("reject"),
    ifMatch: "required",
    example: { body: { reason: "It was advertising." } },
  },
  regenerateDraft: {
    ...decision("regenerate"),
    summary: "Let the agent make the draft anew",
    description: "As after a change of the agent or its knowledge bases.",
    body: optional("regenerate"),
    ifMatch: true,
  },
  takeOverTicket: {
    ...decision("takeover"),
    summary: "Assign the ticket to oneself",
    description: "While a ticket is assigned, nothing is sent automatically.",
    body: optional("takeover"),
    ifMatch: true,
  },
  assignTicket: {
    ...decision("assign"),
    summary: "Assign the ticket to somebody",
    description:
      "While a ticket is assigned, nothing is sent automatically. An operator of the console (`operator:<id>`) has to be allowed to answer in the project.",
    body: { schema: REVIEW_INPUTS.assign },
    ifMatch: true,
    example: { body: { assignee: "ada@example.com" } },
  },
  unassignTicket: {
    ...decision("unassign"),
    summary: "Give the ticket back",
    description:
      "The agent goes on with it, also with the messages that wait. Where the customer was promised a person, or with `keepsDraft`, the ticket stays in review with its draft.",
    body: optional("unassign"),
    ifMatch: true,
  },
  addNote: {
    ...decision("note"),
    summary: "Write a note for the operators",
    description: "It is one of the ticket's events; the customer does not see it.",
    body: { schema: REVIEW_INPUTS.note },
    ifMatch: true,
    example: { body: { text: "Called back, wants it by Friday." } },
  },
  replyToTicket: {
    ...decision("reply"),
    summary: "Write to the customer",
    description:
      "Answers every message that waits for a person, in the draft's place; where none waits, it goes the way of the chat's newest message. The ticket is assigned to the author of the reply unless somebody has it, so that nothing is sent automatically until it is unassigned or resolved. Send `If-Match` to be sure that a repeated call sends nothing twice.",
    body: { schema: REVIEW_INPUTS.reply },
    ifMatch: true,
    example: { body: { text: "We have found your parcel." } },
  },
  rerouteTicket: {
    ...decision("reroute"),
    summary: "Give the ticket to another agent or project",
    description:
      "Triage learns from it. Where messages wait for a person, that agent makes a new draft. Another project needs a key with `admin:*`; an operator who is signed in at the console needs `tickets:write` there.",
    body: { schema: REVIEW_INPUTS.reroute },
    ifMatch: true,
    errors: ["version_conflict", "project_mismatch"],
    example: { body: { agentId: null } },
  },
  resolveTicket: {
    ...decision("resolve"),
    summary: "Close the ticket",
    description:
      "As `resolved`, or as `spam`. Messages that still wait get no answer. A later message of the customer opens a resolved ticket again.",
    body: optional("resolve"),
    ifMatch: true,
    example: { body: { status: "resolved" } },
  },
  reopenTicket: {
    ...decision("reopen"),
    summary: "Open a closed ticket again",
    description:
      "Messages that closing left without an answer wait again, with the draft that there was. With `restore` the ticket also has the status and the assignee from before.",
    body: optional("reopen"),
    ifMatch: true,
  },
  retryTicket: {
    ...decision("retry"),
    summary: "Try again what has failed",
    description:
      "Messages that failed five times go through the pipeline again; a reply that could not be sent is sent.",
    body: optional("retry"),
    ifMatch: true,
  },
} as const satisfies Record<string, Endpoint>;
