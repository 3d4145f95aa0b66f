import type { Principal } from "@svc/auth";
import type { ReviewAction, ReviewInput } from "@svc/contracts";
import { reviewTicket } from "@svc/operations";
import type { Store } from "@svc/store";
import type { Resources } from "@svc/runtime";
import { findAgent } from "../agents/find-agent.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { waitForQueues } from "../wait-for-queues.ts";
import { withResources } from "../with-resources.ts";
import { findTicketId } from "./find-ticket.ts";

/** What is said of an action that was done. The pipeline carries out what is sent or drafted. */
export const DONE: Record<ReviewAction, string> = {
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
};

/** An action with what it takes. */
export type DecisionCall = {
  [Action in ReviewAction]: { action: Action; input: ReviewInput<Action> };
}[ReviewAction];

/** The ticket as the decision left it. */
export type DecidedTicket = Awaited<ReturnType<(typeof reviewTicket)[ReviewAction]>>;

/** Does what an operator has decided, for whoever is at this machine. Throws ServiceError as the operation does. */
export async function decide(
  resources: Resources,
  principal: Principal,
  ticketId: string,
  { action, input }: DecisionCall,
  versions: number[] | null,
): Promise<DecidedTicket> {
  // Where the queues are away, the sweeper of the pipeline announces the decision later.
  await waitForQueues(resources.queues);
  // Each operation takes the input of its own action, which the call was made with.
  const operation = reviewTicket[action] as (
    deps: Resources,
    principal: Principal,
    ticketId: string,
    input: DecisionCall["input"],
    versions: number[] | null,
  ) => Promise<DecidedTicket>;
  return operation(resources, principal, ticketId, input, versions);
}

/** `svc tickets regenerate|assign|…`: an action that needs no look at the draft. */
export async function runDecision(
  cli: Cli,
  named: string,
  project: string,
  call: DecisionCall | ((store: Store, principal: Principal) => Promise<DecisionCall>),
): Promise<void> {
  const { action, item } = await withResources(cli, {}, async (resources) => {
    const { store } = resources;
    const principal = await localPrincipal(store, project);
    const ticketId = await findTicketId(store, principal, named);
    const made = typeof call === "function" ? await call(store, principal) : call;
    return { action: made.action, item: await decide(resources, principal, ticketId, made, null) };
  });
  cli.terminal.show({ ok: true, project, action, item }, () => DONE[action]);
}

/** What `tickets reroute` is told. */
export interface RerouteOptions {
  project: string;
  /** Name or id of an agent of the project that gets the ticket. */
  agent?: string;
  toProject?: string;
}

/** `svc tickets reroute`: gives a ticket to another agent, or to another project. */
export function runReroute(cli: Cli, named: string, { project, agent, toProject }: RerouteOptions): Promise<void> {
  if (agent === undefined && toProject === undefined) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Specify the destination with --agent or --to-project. See: svc tickets reroute --help",
    );
  }
  return runDecision(cli, named, project, async (store) => {
    const target = await localPrincipal(store, toProject ?? project);
    const agentId = agent === undefined ? null : (await findAgent(store, target, agent)).id;
    return { action: "reroute", input: { agentId, ...(toProject === undefined ? {} : { project: toProject }) } };
  });
}
