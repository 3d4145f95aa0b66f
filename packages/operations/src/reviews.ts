import { setTimeout } from "node:timers/promises";
import { isAdministrator, requireScope, scopesOfRoles } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { REVIEW_INPUTS, ServiceError, TICKET_LIMITS, checkInput, grantsScope, invalidInput } from "@svc/contracts";
import type { ReviewAction, ReviewInput, TicketItem } from "@svc/contracts";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import { announceReply, announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { OperatorFileNotFoundError, TooManyTagsError } from "@svc/store";
import type { DecisionResult, Decision, Project, ReviewState, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { DECISION_RULES, UNDER_WAY, UNREAD, conflict } from "./decision-rules.ts";
import type { DecisionCall } from "./decision-rules.ts";
import type { ExpectedVersions, VersionedId } from "./operation.ts";
import { leaveToSweeper } from "./operation.ts";
import { proposeFromEdit } from "./proposals.ts";
import { asTicketItem } from "./ticket-items.ts";
import { readTicket } from "./tickets.ts";

/** Dependencies of decisions. */
export interface ReviewDeps {
  store: Store;
  queues: Queues;
  log: Log;
}

/** Throws version_conflict if the ticket is no longer, or not yet, what the caller decides about. */
function requireUnchanged(action: ReviewAction, state: ReviewState, versions: ExpectedVersions): void {
  const { needsIdle, needsNewest } = DECISION_RULES[action];
  const { ticket } = state;
  if (versions !== null && !versions.includes(ticket.version)) {
    throw conflict(
      ticket,
      `The ticket has changed; its current version is ${ticket.version}. Fetch it again before you decide.`,
    );
  }
  if (needsIdle && state.isUnderWay) throw conflict(ticket, UNDER_WAY);
  const mustBeNewest = needsNewest === "always" || (needsNewest === "versioned" && versions !== null);
  if (mustBeNewest && state.hasReceived) throw conflict(ticket, UNREAD);
}

/** Returns whether a signed-in operator may also write to tickets of another project, by its name. */
async function mayWriteIn(store: Store, { operatorId }: Principal, name: string): Promise<boolean> {
  if (operatorId === undefined) return false;
  const roles = (await store.operators.find(operatorId))?.roles ?? [];
  return grantsScope(scopesOfRoles(roles, name), "tickets:write");
}

/**
 * Returns the target project of a reroute: any one for an administrator; for a signed-in operator, one whose tickets
 * they may write to. Throws project_mismatch, whether the project exists or not, and invalid_request if an
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

/** Returns the target of a reroute. Throws invalid_request if the agent cannot take the ticket. */
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

/** Throws invalid_request if the assignee is an operator who may not reply in the project. */
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
export async function announce({ queues, log }: ReviewDeps, decided: DecisionResult): Promise<void> {
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
 * Polling intervals while an earlier decision is carried out, which usually takes some hundredths of a second, before a
 * decision without a version is rejected.
 */
const POLL_MS = [20, 50, 100, 200, 400];

/** Decides; retries a few times while an earlier decision is carried out. Null if there is no such ticket. */
export async function decideWithRetries(
  { store }: ReviewDeps,
  { project }: Principal,
  ticketId: string,
  plan: (state: ReviewState) => Decision,
): Promise<DecisionResult | null> {
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

/** Throws the input error for a decision that names an unknown file, or adds too many tags. */
function refuseImpossible(error: unknown): never {
  if (error instanceof TooManyTagsError) {
    const detail = `would give the ticket more than ${TICKET_LIMITS.tagsMaxCount} tags`;
    throw invalidInput([{ pointer: "/actions/addTags", code: "too_many", detail }], "The decision");
  }
  if (!(error instanceof OperatorFileNotFoundError)) throw error;
  const detail = "this ticket has no such file; files not attached to a reply are deleted after one day";
  throw invalidInput([{ pointer: "/attachments", code: "not_found", detail }], "The decision");
}

/** Validates, decides and announces, and returns the ticket. See `reviewTicket` for each action. */
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
  // Each action's input type is derived from its schema.
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
      ? () => decideWithRetries(deps, principal, ticketId, plan)
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
  // The ticket as decided: later changes, or its deletion, do not undo that.
  return asTicketItem(decided.ticket, viewer);
}

/**
 * Closes a ticket of a customer who was just blocked, as spam. Messages that the pipeline has not finished are
 * processed again, as spam. A ticket that is closed meanwhile, or whose reply is still being sent, is not changed.
 */
export async function closeAsSpam(deps: ReviewDeps, principal: Principal, ticketId: string): Promise<void> {
  const plan = (state: ReviewState) => {
    if (state.isUnderWay) throw conflict(state.ticket, UNDER_WAY);
    return DECISION_RULES.resolve.decide(state, { status: "spam" }, { actor: principal.actor, target: null });
  };
  try {
    const decided = await decideWithRetries(deps, principal, ticketId, plan);
    if (decided !== null) await announce(deps, decided);
  } catch (error) {
    if (!(error instanceof ServiceError) || !LEAVES_AS_IT_IS.has(error.code)) throw error;
    deps.log.info({ error, ticketId }, "a ticket of a blocked customer was not closed");
  }
}

/** Creates the operation of an action. */
function operationOf<Action extends ReviewAction>(action: Action) {
  return audited(
    `tickets.${action}`,
    (deps: ReviewDeps, principal: Principal, { id, versions = null }: VersionedId, input: ReviewInput<Action>) =>
      decide(deps, principal, id, { action, input, versions }),
    { objectOf: ([{ id }]) => id },
  );
}

/** Sends the draft unchanged. Requires the version. */
export const approveDraft = operationOf("approve");
/**
 * Sends the operator's text instead of the draft, and proposes the edit for the knowledge base. Requires the version.
 */
export const editDraft = operationOf("edit");
/** Closes the waiting messages without an answer. Requires the version. */
export const rejectDraft = operationOf("reject");
/** Lets the agent regenerate the draft. */
export const regenerateDraft = operationOf("regenerate");
/** Assigns the ticket to the caller. */
export const takeOverTicket = operationOf("takeover");
/** Assigns the ticket; an operator of the console must be allowed to reply in the project. */
export const assignTicket = operationOf("assign");
/**
 * Unassigns the ticket; the agent continues, unless the customer was promised a person, or the ticket is to wait for
 * the next operator unchanged (`keepsDraft`).
 */
export const unassignTicket = operationOf("unassign");
export const addNote = operationOf("note");
/**
 * Sends the operator's own text or files, as the answer to all waiting messages or unprompted. Assigns the ticket to its author
 * unless it is assigned, so that the agent stays silent until the ticket is unassigned or resolved. `edit` does the
 * same.
 */
export const replyToTicket = operationOf("reply");
/**
 * Reroutes the ticket to another agent or project. Throws project_mismatch without administrator rights or, for a
 * signed-in operator, a role in that project that may write to its tickets.
 */
export const rerouteTicket = operationOf("reroute");
/** Closes the ticket. */
export const resolveTicket = operationOf("resolve");
/**
 * Reopens a closed ticket: messages that were closed without an answer wait again, with their draft. With `restore` the
 * ticket also gets its former status and assignee.
 */
export const reopenTicket = operationOf("reopen");
/** Retries everything that failed in the pipeline. */
export const retryTicket = operationOf("retry");
/** Hides an open ticket from the views of open work until a time, or until its customer writes. */
export const snoozeTicket = operationOf("snooze");
/** Ends the snooze of a ticket. */
export const unsnoozeTicket = operationOf("unsnooze");

/**
 * Decisions of an operator about a ticket of the principal's project. Each decision is committed in one transaction
 * with all its changes, or rejected; the pipeline carries it out once. Scope tickets:write. All throw not_found,
 * invalid_request (every error of the input, or the possible actions) and version_conflict with the current `ETag`: if
 * the ticket has none of the expected versions, if an earlier decision is still in progress and, for actions that must
 * not ignore it, if the customer has written something that is not in the ticket yet. Each returns the ticket as
 * decided.
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
