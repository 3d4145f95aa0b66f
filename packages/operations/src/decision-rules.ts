import { REVIEW_LIMITS, ServiceError, invalidInput, isLegalMove } from "@svc/contracts";
import type { ReplyActions, ReviewAction, ReviewInput, TicketStage } from "@svc/contracts";
import type { Decision, ProjectId, ReviewState, SendWork } from "@svc/store";

/** The person who decides, and the target of an assignment or a reroute. */
export interface DecisionCall {
  actor: string;
  /** Target of a reroute: the project, and the agent's name; null for no agent. */
  target: { project: ProjectId; projectName: string; agentName: string | null } | null;
}

/**
 * Returns the result of an action on a ticket in its current state. Throws invalid_request if it is not possible, with
 * the possible ones.
 */
type Rule<Action extends ReviewAction> = (
  state: ReviewState,
  input: ReviewInput<Action>,
  call: DecisionCall,
) => Decision;

/** An action as data. */
interface ActionRule<Action extends ReviewAction> {
  /** True if the caller must name the version it has seen, because the action depends on its content. */
  needsVersion: boolean;
  /**
   * When the action must not ignore a message that the customer has written meanwhile: `versioned` if the caller names
   * the version it has seen.
   */
  needsNewest: "always" | "versioned" | "never";
  /** True if the action is rejected while an earlier decision is being carried out. */
  needsIdle: boolean;
  decide: Rule<Action>;
}

const illegal = (text: string) => new ServiceError("invalid_request", text);

/** Returns the version_conflict of a decision that is no longer possible, or not yet; with the current version. */
export function conflict({ version }: { version: number }, text: string): ServiceError {
  return new ServiceError("version_conflict", text, { headers: { ETag: `"${version}"` } });
}

/** Error of a message that is not, or no longer, a dead letter. */
export const noDeadLetter = () =>
  new ServiceError(
    "not_found",
    "No dead letter with this ID exists in this project. List them with: svc dead-letters list.",
  );

/** Error of a decision that must not ignore a newer message. */
export const UNREAD =
  "The customer has sent a new message that is not in the ticket yet. Fetch the ticket again in a moment.";

/** Returns a decision that only adds the given data. */
function decisionOf(
  action: ReviewAction,
  { ticket }: ReviewState,
  { actor }: DecisionCall,
  change: Partial<Omit<Decision, "action" | "actor" | "ticket">> & { ticket?: Partial<Decision["ticket"]> },
): Decision {
  const { project, status, stage, assignee, agentId } = ticket;
  return {
    action,
    actor,
    why: "",
    data: {},
    waiting: "stay",
    dropsDraft: false,
    interrupts: true,
    work: null,
    lessons: [],
    ...change,
    ticket: { project, status, stage, assignee, agentId, ...change.ticket },
  };
}

const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);
const heldOf = ({ waiting }: ReviewState) => waiting.filter(({ state }) => state === "held");

/**
 * Returns a reply to all waiting messages, to the address of the newest one; without any, to that of the newest
 * message.
 */
function replyOf(
  { waiting, newest }: ReviewState,
  {
    author,
    text,
    markdown,
    sources,
    fileIds = [],
    resolves = false,
  }: Pick<SendWork, "author" | "text" | "markdown" | "sources"> &
    Partial<Pick<SendWork, "fileIds">> & { resolves?: boolean | undefined },
) {
  const answers = (waiting.at(-1) ?? newest)?.id ?? null;
  const covers = idsOf(waiting);
  return {
    kind: "send",
    author,
    text,
    markdown,
    sources,
    fileIds,
    resolves,
    covers,
    answers,
  } as const satisfies SendWork;
}

/** Maximum number of messages, the newest ones, that a regenerated draft answers. */
const MAX_REDRAFTED = 20;

/** Returns the work of a new draft for the held messages; null if there are none. */
function draftOf(state: ReviewState): Decision["work"] {
  const held = heldOf(state).slice(-MAX_REDRAFTED);
  const newest = held.at(-1);
  return newest === undefined ? null : { kind: "draft", covers: idsOf(held), answers: newest.id };
}

/** Error of a decision while an earlier one is in progress. */
export const UNDER_WAY = "An earlier action on this ticket is still in progress. Fetch the ticket again in a moment.";

const NO_DRAFT = "This ticket has no draft. Use reply to write to the customer.";

const approve: Rule<"approve"> = (state, { resolves }, call) => {
  const { draft } = state;
  if (draft === null) throw illegal(NO_DRAFT);
  if (draft.text.trim() === "") {
    throw illegal("The draft is empty because the agent found no answer. Use edit to write one, or reject.");
  }
  // A dead letter has no draft, and this draft must not be sent as its answer.
  if (state.waiting.some(({ id }) => !draft.covers.includes(id))) {
    const text = "A newer message is not covered by this draft. Use retry for failed messages, regenerate, or edit.";
    throw conflict(state.ticket, text);
  }
  return decisionOf("approve", state, call, {
    ticket: { stage: "delivering" },
    why: "approved",
    snooze: null,
    work: replyOf(state, { author: "agent", ...draft, resolves }),
  });
};

const DAY_MS = 86_400_000;

/**
 * Returns the end of a snooze. Throws invalid_request for a time that is past or too far ahead; `at` is its pointer.
 */
function snoozeEnd(until: string | null, at: string): Date | "reply" {
  if (until === null) return "reply";
  const end = new Date(until);
  const latest = Date.now() + REVIEW_LIMITS.snoozeMaxDays * DAY_MS;
  if (end.getTime() > Date.now() && end.getTime() <= latest) return end;
  const detail = `must be in the future, at most ${REVIEW_LIMITS.snoozeMaxDays} days ahead`;
  throw invalidInput([{ pointer: at, code: "out_of_range", detail }], "The decision");
}

/**
 * Returns the changes of a ticket with an operator's text. The conversation is assigned to its author, unless it is
 * open and assigned already, or the actions say otherwise: the agent stays silent. A reply ends a snooze.
 */
function effectsOf({ ticket }: ReviewState, { actor }: DecisionCall, actions: ReplyActions = {}) {
  const isResolved = ticket.status === "resolved";
  const { assignee = (isResolved ? null : ticket.assignee) ?? actor, snooze, addTags, priority } = actions;
  return {
    ticket: { stage: "delivering", assignee },
    snooze: snooze === undefined ? null : snoozeEnd(snooze.until, "/actions/snooze/until"),
    fields: { addTags, priority },
    data: Object.keys(actions).length === 0 ? {} : { actions },
  } as const;
}

const fileIdsOf = (attachments: ReviewInput<"reply">["attachments"] = []) => attachments.map(({ fileId }) => fileId);

const edit: Rule<"edit"> = (state, { text, markdown, attachments, resolves, actions }, call) => {
  const { draft } = state;
  if (draft === null) throw illegal(NO_DRAFT);
  const effects = effectsOf(state, call, actions);
  return decisionOf("edit", state, call, {
    ...effects,
    why: "edited",
    data: { draft: draft.text, sent: text, ...effects.data },
    work: replyOf(state, {
      author: "operator",
      text,
      markdown: markdown ?? draft.markdown,
      sources: [],
      fileIds: fileIdsOf(attachments),
      resolves,
    }),
  });
};

const reject: Rule<"reject"> = (state, { reason }, call) => {
  if (state.waiting.length === 0) {
    throw illegal("No message on this ticket is waiting for an answer. Use resolve to close the ticket.");
  }
  return decisionOf("reject", state, call, {
    ticket: { stage: "done", status: "pending" },
    why: reason ?? "rejected",
    data: reason === undefined ? {} : { reason },
    waiting: "reject",
    dropsDraft: true,
  });
};

const regenerate: Rule<"regenerate"> = (state, _input, call) => {
  const work = draftOf(state);
  if (work === null) throw illegal("No message on this ticket is waiting for an answer, so there is nothing to draft.");
  return decisionOf("regenerate", state, call, {
    ticket: { stage: "received" },
    why: "new draft requested",
    work,
  });
};

const unassign: Rule<"unassign"> = (state, { keepsDraft = false }, call) => {
  const { ticket, isPersonPromised } = state;
  if (ticket.assignee === null) throw illegal("This ticket is not assigned. Use assign or takeover to assign it.");
  // Only when the draft exists is the ticket in review, and can be returned to the agent.
  if (state.isUnderWay && ticket.stage === "received") throw conflict(ticket, UNDER_WAY);
  // A customer who was promised a person must get one: the ticket then waits for the next operator.
  const isForPerson = isPersonPromised || keepsDraft;
  const goesBack = ticket.stage === "review" && !isForPerson && heldOf(state).length > 0;
  return decisionOf("unassign", state, call, {
    ticket: { assignee: null, ...(goesBack ? { stage: "received" } : {}) },
    why: "returned to the agent",
    ...(goesBack ? { waiting: "return", dropsDraft: true } : {}),
  });
};

const reroute: Rule<"reroute"> = (state, { agentId }, call) => {
  const { ticket } = state;
  const project = call.target?.project ?? ticket.project;
  const isMoved = project !== ticket.project;
  const work = agentId === null ? null : draftOf(state);
  return decisionOf("reroute", state, call, {
    // The assignee works for the project that the ticket leaves.
    ticket: {
      project,
      agentId,
      ...(isMoved ? { assignee: null } : {}),
      ...(work === null ? {} : { stage: "received" }),
    },
    why: `rerouted to ${call.target?.agentName ?? "no agent"}`,
    // A project can be renamed: its id identifies the owner of the events from this one on.
    data: { agentId, ...(isMoved ? { project: call.target?.projectName, projectId: project } : {}) },
    // Text from the former project's knowledge must not be sent by the other one.
    dropsDraft: work === null || isMoved,
    work,
    lessons: [{ project, agentId }, ...(isMoved ? [{ project: ticket.project, agentId: null }] : [])],
  });
};

const resolve: Rule<"resolve"> = (state, { status = "resolved" }, call) => {
  const { ticket, waiting } = state;
  const { actor } = call;
  // Lists show who has resolved it. A key that closes tickets is not a person who could get them again.
  const resolver = ticket.assignee ?? (actor.startsWith("operator:") ? actor : null);
  if (ticket.status === status && waiting.length === 0) throw illegal(`This ticket is already ${status}.`);
  return decisionOf("resolve", state, call, {
    ticket: {
      status,
      assignee: status === "resolved" ? resolver : null,
      stage: isLegalMove(ticket.stage, "done") ? "done" : ticket.stage,
    },
    why: status,
    data: { status },
    snooze: null,
    waiting: "reject",
    dropsDraft: true,
  });
};

/** Returns the stage of a reopened ticket: review if its customer still waits for an answer. */
function restAfterReopen({ ticket: { stage }, waiting, closed: { before, ended } }: ReviewState): TicketStage {
  if (stage !== "done" && stage !== "failed") return stage;
  const states = [...waiting, ...ended].map(({ state }) => state);
  if (states.includes("held") || before?.stage === "review") return "review";
  return states.includes("failed") ? "failed" : stage;
}

const reopen: Rule<"reopen"> = (state, { restore = false }, call) => {
  const { ticket, closed } = state;
  if (ticket.status !== "resolved" && ticket.status !== "spam") {
    throw illegal(`Only closed tickets can be reopened. This ticket is ${ticket.status}.`);
  }
  const former = closed.isAssigneeActive ? ticket.assignee : null;
  const { status, assignee } = (restore ? closed.before : null) ?? { status: "open", assignee: former };
  return decisionOf("reopen", state, call, {
    ticket: { status, assignee, stage: restAfterReopen(state) },
    why: "reopened",
    snooze: null,
    waiting: "restore",
  });
};

/**
 * Returns the failed reply, for its messages that still wait; null if there is none. It was the ticket's last decision
 * to carry out, whatever stage the ticket has reached since.
 */
function failedReply({ failed, waiting }: ReviewState): SendWork | null {
  if (failed === null) return null;
  const covers = failed.covers.filter((id) => waiting.some((message) => message.id === id));
  const isWanted = failed.covers.length === 0 || covers.length > 0;
  return isWanted ? { ...failed, covers, answers: covers.at(-1) ?? failed.answers } : null;
}

/** Retries dead letters: all waiting ones, or only these. */
function revive(state: ReviewState, call: DecisionCall, only?: readonly string[]): Decision {
  const { stage } = state.ticket;
  return decisionOf("retry", state, call, {
    ticket: { stage: stage === "failed" ? "received" : stage },
    why: "sent again",
    waiting: "revive",
    ...(only === undefined ? {} : { only }),
  });
}

/** Retries one dead letter. Throws not_found if it no longer waits. */
export function retryOne(state: ReviewState, messageId: string, call: DecisionCall): Decision {
  if (state.waiting.some(({ id, state: isIn }) => id === messageId && isIn === "failed")) {
    return revive(state, call, [messageId]);
  }
  throw noDeadLetter();
}

const retry: Rule<"retry"> = (state, _input, call) => {
  const { waiting } = state;
  const work = failedReply(state);
  // The agent's text was written before the customer's newer messages; an operator's text is the operator's choice.
  const isOutdated = work?.author === "agent" && waiting.some(({ id }) => !work.covers.includes(id));
  if (work !== null && !isOutdated) {
    if (state.hasReceived) throw conflict(state.ticket, UNREAD);
    return decisionOf("retry", state, call, { ticket: { stage: "delivering" }, why: "sent again", work });
  }
  if (waiting.some((message) => message.state === "failed")) return revive(state, call);
  throw illegal(
    isOutdated
      ? "The customer has written since the failed reply was created. Use approve, edit or reply."
      : "No message or reply of this ticket has failed.",
  );
};

const snooze: Rule<"snooze"> = (state, { until }, call) => {
  const { status } = state.ticket;
  if (status === "resolved" || status === "spam") {
    throw illegal(`Only open tickets can be snoozed. This ticket is ${status}.`);
  }
  const end = snoozeEnd(until, "/until");
  return decisionOf("snooze", state, call, {
    data: { until: end === "reply" ? null : end.toISOString() },
    snooze: end,
    interrupts: false,
  });
};

const ABOUT_DRAFT = { needsVersion: true, needsNewest: "always", needsIdle: true } as const;
const ABOUT_ANSWER = { needsVersion: false, needsNewest: "always", needsIdle: true } as const;
const ABOUT_CHAT = { needsVersion: false, needsNewest: "never", needsIdle: true } as const;
const ABOUT_TICKET = { needsVersion: false, needsNewest: "never", needsIdle: false } as const;

/** The decisions of an operator, and their conditions. */
export const DECISION_RULES: { [Action in ReviewAction]: ActionRule<Action> } = {
  approve: { ...ABOUT_DRAFT, decide: approve },
  edit: { ...ABOUT_DRAFT, decide: edit },
  reject: { ...ABOUT_DRAFT, decide: reject },
  regenerate: { ...ABOUT_ANSWER, decide: regenerate },
  resolve: { ...ABOUT_ANSWER, decide: resolve },
  reply: {
    ...ABOUT_CHAT,
    needsNewest: "versioned",
    decide: (state, { text = "", markdown = false, attachments, resolves, actions }, call) =>
      decisionOf("reply", state, call, {
        ...effectsOf(state, call, actions),
        why: "answered by an operator",
        work: replyOf(state, {
          author: "operator",
          text,
          markdown,
          sources: [],
          fileIds: fileIdsOf(attachments),
          resolves,
        }),
      }),
  },
  reroute: { ...ABOUT_CHAT, decide: reroute },
  retry: { ...ABOUT_CHAT, decide: retry },
  takeover: {
    ...ABOUT_TICKET,
    decide: (state, _input, call) => decisionOf("takeover", state, call, { ticket: { assignee: call.actor } }),
  },
  assign: {
    ...ABOUT_TICKET,
    decide: (state, { assignee }, call) =>
      decisionOf("assign", state, call, { ticket: { assignee }, data: { assignee } }),
  },
  unassign: { ...ABOUT_TICKET, decide: unassign },
  note: {
    ...ABOUT_TICKET,
    decide: (state, { text, mentions = [] }, call) => {
      const data = { note: text, ...(mentions.length === 0 ? {} : { mentions: [...new Set(mentions)] }) };
      return decisionOf("note", state, call, { data, interrupts: false });
    },
  },
  reopen: { ...ABOUT_TICKET, decide: reopen },
  snooze: { ...ABOUT_TICKET, decide: snooze },
  unsnooze: {
    ...ABOUT_TICKET,
    decide: (state, _input, call) => decisionOf("unsnooze", state, call, { snooze: null, interrupts: false }),
  },
};
