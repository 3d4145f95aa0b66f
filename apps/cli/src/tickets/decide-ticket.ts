import type { ReviewAction, ReviewInput } from "@svc/contracts";
import type { reviewTicket } from "@svc/operations";
import { asAdministrator, waitForQueues, findTicketId, getTicketNamed } from "../as-administrator.ts";
import type { OperationContext } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import type { OptionValues } from "../define-command.ts";
import { projectOption, seenOption, yesOption } from "../options.ts";
import { confirm } from "../read-input.ts";
import { quoted, renderQuestion } from "./render-ticket.ts";

/** Texts of completed actions. The pipeline sends and regenerates later. */
const DONE: Record<ReviewAction, string> = {
  approve: "Approved. The draft is being sent.",
  edit: "Edited. Your text is being sent instead of the draft.",
  reject: "Dismissed. The customer gets no answer.",
  regenerate: "The agent is regenerating the draft.",
  takeover: "The ticket is assigned to you.",
  assign: "Assigned. Nothing is sent automatically while the ticket is assigned.",
  unassign: "Unassigned.",
  note: "Noted.",
  reply: "Your reply is being sent.",
  reroute: "Rerouted.",
  resolve: "Closed. A new message from the customer reopens it.",
  reopen: "Reopened.",
  retry: "Failed messages and replies are retried.",
  snooze: "Snoozed. The ticket returns then, or when the customer writes.",
  unsnooze: "The ticket is in the inbox again.",
};

/** An action with its input. */
type DecisionCall = { [Action in ReviewAction]: { action: Action; input: ReviewInput<Action> } }[ReviewAction];

/** The ticket after a decision. */
type DecidedTicket = Awaited<ReturnType<(typeof reviewTicket)[ReviewAction]>>;

/** Makes a decision of an operator, as the person at this machine. Throws the operation's ServiceError. */
async function decide(
  { principal, resources }: OperationContext,
  ticketId: string,
  { action, input, versions = null }: DecisionCall & { versions?: number[] | null },
): Promise<DecidedTicket> {
  // If the queues are unavailable, the sweeper of the pipeline announces the decision later.
  await waitForQueues(resources.queues);
  // Each operation accepts the input of its own action, with which the call was created.
  const operations = await import("@svc/operations");
  const review = operations.reviewTicket[action] as (...args: unknown[]) => Promise<DecidedTicket>;
  return review(resources, principal, { id: ticketId, versions }, input);
}

/** Makes a decision that does not depend on the draft, and shows its result. */
export async function runDecision(
  cli: Cli,
  { ticket, project }: { ticket: string; project: string },
  call: DecisionCall | ((context: OperationContext) => Promise<DecisionCall>),
): Promise<void> {
  const { action, item } = await asAdministrator(cli, project, async (operations, context) => {
    const ticketId = await findTicketId(operations, ticket);
    const made = typeof call === "function" ? await call(context) : call;
    return { action: made.action, item: await decide(context, ticketId, made) };
  });
  cli.terminal.show({ ok: true, project, action, item }, () => DONE[action]);
}

/** The options of a decision about a draft. */
export const REVIEW_OPTIONS = { yes: yesOption, seen: seenOption, project: projectOption };

/** A decision about a draft, and the question before it. */
interface Review {
  call: DecisionCall;
  question: string;
  /** Text that is sent instead of the draft. */
  text?: string;
}

/**
 * Shows the waiting messages and the draft, and asks for confirmation, unless `--yes` is given; then decides about
 * exactly that version.
 */
export async function review(
  cli: Cli,
  { ticket: named, yes, seen, project }: OptionValues<typeof REVIEW_OPTIONS> & { ticket: string },
  { call, question, text }: Review,
): Promise<void> {
  if (yes === true && seen === undefined) {
    throw usageError(
      "With --yes, pass the version that you have reviewed with --seen, as shown by tickets show. This prevents sending over " +
        "a newer message.",
    );
  }
  const item = await asAdministrator(cli, project, async (operations, context) => {
    const ticket = await getTicketNamed(operations, named);
    // Without a draft there is nothing to send: the operation rejects that with advice.
    const isAsked = ticket.draft !== null || call.action === "reject";
    if (yes !== true && isAsked) {
      cli.terminal.note(renderQuestion(ticket, cli.terminal.paint));
      if (text !== undefined) cli.terminal.note(`\nNew text\n${quoted(text)}`);
      if (!(await confirm(cli, `\n${question}`, `--yes --seen ${ticket.version}`))) return null;
    }
    return decide(context, ticket.id, { ...call, versions: [seen ?? ticket.version] });
  });
  const { action } = call;
  cli.terminal.show({ ok: item !== null, project, action, item }, () =>
    item === null ? "No decision was made." : DONE[action],
  );
}
