import { setTimeout } from "node:timers/promises";
import { isAdministrator, requireScope, scopesOfRoles } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { REVIEW_INPUTS, ServiceError, TICKET_LIMITS, checkInput, grantsScope, invalidInput } from "@svc/contracts";
import type { ReviewAction, ReviewInput, TicketItem } from "@svc/contracts";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import { announceReply, announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { OperatorFileGoneError, TooManyTagsError } from "@svc/store";
import type { Decided, Decision, Project, ReviewState, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { DECISION_RULES, UNDER_WAY, UNREAD, conflict } from "./decision-rules.ts";
import type { DecisionCall } from "./decision-rules.ts";
import type { ExpectedVersions, VersionedId } from "./operation.ts";
import { leaveToSweeper } from "./operation.ts";
import { proposeFromEdit } from "./proposals.ts";
import { asTicketItem } from "./ticket-items.ts";
import { readTicket } from "./tickets.ts";

/** What deciding needs. */
export interface ReviewDeps {
  store: Store;
  queues: Queues;
  log: Log;
}

/** Throws version_conflict where the ticket is not, or not yet, what the caller decides about. */
function requireUnchanged(action: ReviewAction, state: ReviewState, versions: ExpectedVersions): void {
  const { needsCalm, needsNewest } = DECISION_RULES[action];
  const { ticket } = state;
  if (versions !== null && !versions.includes(ticket.version)) {
    throw conflict(
      ticket,
      `The ticket has changed; its current version is ${ticket.version}. Fetch it again before you decide.`,
    );
  }
  if (needsCalm && state.isUnderWay) throw conflict(ticket, UNDER_WAY);
  const mustBeNewest = needsNewest === "always" || (needsNewest === "versioned" && versions !== null);
  if (mustBeNewest && state.hasReceived) throw conflict(ticket, UNREAD);
}

/** Whether somebody who is signed in may write in the tickets of another project, too, by its name. */
async function mayWriteIn(store: Store, { operatorId }: Principal, name: string): Promise<boolean> {
  if (operatorId === undefined) return false;
  const roles = (await store.operators.find(operatorId))?.roles ?? [];
  return grantsScope(scopesOfRoles(roles, name), "tickets:write");
}

/**
 * The project that a ticket is rerouted to: any one for an administrator; for an operator who is signed in, one whose
 * tickets they may write in. Throws project_mismatch, whether the project exists or not, and invalid_request where an
 * administrator names none.
 */
async function findTargetProject(
  store: Store,
  principal: Principal,
  name: string | undefined,
): Promise<Pick<Project, "id" | "name">> {
  if (name === undefined || name === principal.projectName) {
    return { id: principal.project, name: principal.projectName };
  }
  if (!isAdministrator(principal) && !(await mayWriteIn(store, principal, name))) {
    const text =
      principal.operatorId === undefined
        ? "This key is bound to another project. Use an administrator's key."
        : "Your role in that project does not allow you to write in its tickets.";
    throw new ServiceError("project_mismatch", text);
  }
  const project = await store.projects.findByName(name);
  if (project !== null) return project;
  throw invalidInput(
    [{ pointer: "/project", code: "not_found", detail: "is not the name of a project" }],
    "The decision",
  );
}

/** Looks up what a ticket is rerouted to. Throws invalid_request where the agent cannot take it. */
async function findTarget(
  store: Store,
  principal: Principal,
  { agentId, project: name }: ReviewInput<"reroute">,
): Promise<DecisionCall["target"]> {
  const project = await findTargetProject(store, principal, name);
  const target = { project: project.id, projectName: project.name };
  if (agentId === null) return { ...target, agentName: null };
  const agent = await store.agents.find(project.id, agentId);
  if (agent?.enabled === true) return { ...target, agentName: agent.name };
  const detail = agent === null ? "is not the ID of an agent in that project" : "is the ID of a disabled agent";
  throw invalidInput([{ pointer: "/agentId", code: "not_found", detail }], "The decision");
}

/** An operator as assignee; any other assignee is the name of a person or a team outside the console. */
const OPERATOR_ASSIGNEE = /^operator:(?<id>[\da-f-]{36})$/iu;

/** Throws invalid_request where the assignee is an operator who may not answer in the project. */
async function requireAssignable(
  store: Store,
  { projectName }: Principal,
  assignee: string,
  at: string,
): Promise<void> {
  const { id = "" } = OPERATOR_ASSIGNEE.exec(assignee)?.groups ?? {};
  if (!isUuid(id)) return;
  const operator = await store.operators.find(id);
  const mayAnswer =
    operator?.disabledAt === null && grantsScope(scopesOfRoles(operator.roles, projectName), "tickets:write");
  if (mayAnswer) return;
  const detail = "must be an operator who can answer tickets of this project; viewers have read-only access";
  throw invalidInput([{ pointer: at, code: "not_allowed", detail }], "The decision");
}

/** Announces a decision to the pipeline and to callbacks. If the queue rejects it, the sweepers announce it. */
export async function announce({ queues, log }: ReviewDeps, decided: Decided): Promise<void> {
  const { ticket, hasWork, notifiedMessageId: messageId } = decided;
  const { id: ticketId, homeProject: project, channelId, version } = ticket;
  await leaveToSweeper(log, { ticketId }, async () => {
    if (hasWork) await announceWork(queues, "review-decisions", [{ project, ticketId, mark: `v${version}` }]);
    if (messageId === null) return;
    const announcement = { project, ticketId, messageId, mode: "webhook", fromSeq: 0, toSeq: 0 } as const;
    await announceReply(queues, channelId, announcement);
  });
}

/**
 * An earlier decision takes some hundredths of a second to be carried out: so often is looked again before a decision
 * that is about no version is refused.
 */
const POLL_MS = [20, 50, 100, 200, 400];

/** Decides; while an earlier decision is being carried out, again a few times. Null when there is no such ticket. */
export async function decidePatiently(
  { store }: ReviewDeps,
  { project }: Principal,
  ticketId: string,
  plan: (state: ReviewState) => Decision,
): Promise<Decided | null> {
  let isUnderWay = false;
  const check = (state: ReviewState) => {
    ({ isUnderWay } = state);
    return plan(state);
  };
  for (const pauseMs of POLL_MS) {
    try {
      return await store.reviews.decide(project, ticketId, check);
    } catch (error) {
      const isConflict = error instanceof ServiceError && error.code === "version_conflict";
      if (!isUnderWay || !isConflict) throw error;
      await setTimeout(pauseMs);
    }
  }
  return store.reviews.decide(project, ticketId, plan);
}

/** Errors of a ticket that cannot be closed as it is now. */
const LEAVES_AS_IT_IS: ReadonlySet<string> = new Set(["version_conflict", "invalid_request"]);

/** Says which of the input is wrong where a decision names a file that its ticket has not, or gives it too many tags. */
function refuseImpossible(error: unknown): never {
  if (error instanceof TooManyTagsError) {
    const detail = `would give the ticket more than ${TICKET_LIMITS.tagsMaxCount} tags`;
    throw invalidInput([{ pointer: "/actions/addTags", code: "too_many", detail }], "The decision");
  }
  if (!(error instanceof OperatorFileGoneError)) throw error;
  const detail = "this ticket has no such file; files not attached to a reply are deleted after one day";
  throw invalidInput([{ pointer: "/attachments", code: "not_found", detail }], "The decision");
}

/** Checks, decides, announces, and answers the ticket as it is then. See `reviewTicket` for what each action does. */
async function decide<Action extends ReviewAction>(
  deps: ReviewDeps,
  principal: Principal,
  ticketId: string,
  { action, input, versions }: { action: Action; input: ReviewInput<Action>; versions: ExpectedVersions },
): Promise<TicketItem> {
  requireScope(principal, "tickets:write");
  const { store } = deps;
  const { needsVersion, decide: rule } = DECISION_RULES[action];
  if (needsVersion && versions === null) {
    throw new ServiceError(
      "invalid_request",
      "Send the ticket's ETag in If-Match, as returned when you fetched the ticket, to avoid overwriting changes you have not seen.",
    );
  }
  // The schema of each action is the one that its input type is made from.
  const checked = checkInput<unknown>(REVIEW_INPUTS[action], input, "The decision") as ReviewInput<Action>;
  const target = action === "reroute" ? await findTarget(store, principal, checked as ReviewInput<"reroute">) : null;
  if (action === "assign") {
    await requireAssignable(store, principal, (checked as ReviewInput<"assign">).assignee, "/assignee");
  }
  if (action === "edit" || action === "reply") {
    const { actions } = checked as ReviewInput<"edit" | "reply">;
    await requireAssignable(store, principal, actions?.assignee ?? "", "/actions/assignee");
  }
  const seen: { draft: ReviewState["draft"] } = { draft: null };
  const plan = (state: ReviewState) => {
    requireUnchanged(action, state, versions);
    seen.draft = state.draft;
    return rule(state, checked, { actor: principal.actor, target });
  };
  const decideNow =
    versions === null
      ? () => decidePatiently(deps, principal, ticketId, plan)
      : () => store.reviews.decide(principal.project, ticketId, plan);
  const decided = isUuid(ticketId) ? await decideNow().catch(refuseImpossible) : null;
  if (decided === null) {
    const ticket = await readTicket(store, principal, ticketId);
    throw conflict(ticket, "The ticket is still being created. Fetch it again in a moment.");
  }
  await announce(deps, decided);
  if (action === "edit" && seen.draft !== null) {
    const { text: sentText } = checked as ReviewInput<"edit">;
    const { project, actor } = principal;
    await proposeFromEdit(deps, { project, ticketId, draft: seen.draft, sentText, actor });
  }
  const viewer = target === null ? principal : { ...principal, ...target };
  // As it was decided: what has become of it since, or whether it is still there, does not undo that.
  return asTicketItem(decided.ticket, viewer);
}

/**
 * Closes a ticket of a customer who was just blocked, as spam. What the customer has written and the pipeline has not finished
 * is taken in again, as spam. A ticket that is closed meanwhile stays as it is, as does one whose reply is still being sent.
 */
export async function closeAsSpam(deps: ReviewDeps, principal: Principal, ticketId: string): Promise<void> {
  const plan = (state: ReviewState) => {
    if (state.isUnderWay) throw conflict(state.ticket, UNDER_WAY);
    return DECISION_RULES.resolve.decide(state, { status: "spam" }, { actor: principal.actor, target: null });
  };
  try {
    const decided = await decidePatiently(deps, principal, ticketId, plan);
    if (decided !== null) await announce(deps, decided);
  } catch (error) {
    if (!(error instanceof ServiceError) || !LEAVES_AS_IT_IS.has(error.code)) throw error;
    deps.log.info({ error, ticketId }, "a ticket of a blocked customer was not closed");
  }
}

/** Makes the operation of an action. */
function operationOf<Action extends ReviewAction>(action: Action) {
  return audited(
    `tickets.${action}`,
    (deps: ReviewDeps, principal: Principal, { id, versions = null }: VersionedId, input: ReviewInput<Action>) =>
      decide(deps, principal, id, { action, input, versions }),
    { objectOf: ([{ id }]) => id },
  );
}

/** Sends the draft as it is. The version has to be named. */
export const approveDraft = operationOf("approve");
/**
 * Sends the operator's text in the draft's place, and proposes what was changed for the knowledge base. The version
 * has to be named.
 */
export const editDraft = operationOf("edit");
/** Ends what waits without an answer. The version has to be named. */
export const rejectDraft = operationOf("reject");
/** Lets the agent regenerate the draft. */
export const regenerateDraft = operationOf("regenerate");
/** Assigns the ticket to who asks. */
export const takeOverTicket = operationOf("takeover");
/** Assigns the ticket to somebody; an operator of the console has to be allowed to answer in the project. */
export const assignTicket = operationOf("assign");
/**
 * Nobody has the ticket any more; the agent goes on with it, unless the customer was promised a person, or it is to
 * wait for the next one as it is (`keepsDraft`).
 */
export const unassignTicket = operationOf("unassign");
export const addNote = operationOf("note");
/**
 * Sends the operator's own text, for all that waits or without being asked. Assigns the ticket to its author unless
 * somebody has it, so that the agent stays silent until the ticket is unassigned or resolved. `edit` does the same.
 */
export const replyToTicket = operationOf("reply");
/**
 * Gives the ticket to another agent, or to another project: project_mismatch without the rights of an administrator,
 * or, for who is signed in, a role in that project that may write in its tickets.
 */
export const rerouteTicket = operationOf("reroute");
/** Closes the ticket. */
export const resolveTicket = operationOf("resolve");
/**
 * Opens a closed ticket again: messages that closing left without an answer wait again, with their draft. With
 * `restore` the ticket has its former status and assignee, too.
 */
export const reopenTicket = operationOf("reopen");
/** Sends what has failed through the pipeline again. */
export const retryTicket = operationOf("retry");
/** Takes an open ticket out of the views of open work until a time, or until its customer writes. */
export const snoozeTicket = operationOf("snooze");
/** Ends the snooze of a ticket. */
export const unsnoozeTicket = operationOf("unsnooze");

/**
 * What an operator can decide about a ticket of the principal's project. Each decision is committed in one transaction
 * with all that it changes, or refused; the pipeline carries it out once. Scope tickets:write. All throw not_found,
 * invalid_request (every error of the input, or what the ticket allows instead) and version_conflict with the present
 * `ETag`: when the ticket has none of the expected versions, when an earlier decision is not carried out yet, and,
 * where the action must not pass over it, when the customer has written something that is not in the ticket yet. Each
 * answers the ticket as the decision has made it.
 */
export const reviewTicket = {
  approve: approveDraft,
  edit: editDraft,
  reject: rejectDraft,
  regenerate: regenerateDraft,
  takeover: takeOverTicket,
  assign: assignTicket,
  unassign: unassignTicket,
  note: addNote,
  reply: replyToTicket,
  reroute: rerouteTicket,
  resolve: resolveTicket,
  reopen: reopenTicket,
  retry: retryTicket,
  snooze: snoozeTicket,
  unsnooze: unsnoozeTicket,
} as const satisfies Record<ReviewAction, unknown>;
