import { REVIEW_LIMITS, ServiceError, invalidInput, isLegalMove } from "@svc/contracts";
import type { ReplyActions, ReviewAction, ReviewInput, TicketStage } from "@svc/contracts";
import type { Decision, ProjectId, ReviewState, SendWork } from "@svc/store";

/** The person who decides, and the target of an assignment or a reroute. */
export interface DecisionCall {
  actor: string;
  /** Where a ticket is rerouted: the project, and the agent's name; null for no agent. */
  target: { project: ProjectId; projectName: string; agentName: string | null } | null;
}

/** What an action makes of a ticket as it is. Throws invalid_request where it cannot be, with what can be instead. */
type Rule<Action extends ReviewAction> = (
  state: ReviewState,
  input: ReviewInput<Action>,
  call: DecisionCall,
) => Decision;

/** An action as data. */
interface ActionRule<Action extends ReviewAction> {
  /** True when the caller has to name the version that was looked at: the action is about what was read there. */
  needsVersion: boolean;
  /**
   * When the action must not pass over a message that the customer has written meanwhile: `versioned` where the caller
   * names the version that was looked at.
   */
  needsNewest: "always" | "versioned" | "never";
  /** True when an earlier decision has to be carried out first. */
  needsCalm: boolean;
  decide: Rule<Action>;
}

const illegal = (text: string) => new ServiceError("invalid_request", text);

/** The refusal of a decision about what is not so any more, or not yet; with the current version. */
export function conflict({ version }: { version: number }, text: string): ServiceError {
  return new ServiceError("version_conflict", text, { headers: { ETag: `"${version}"` } });
}

/** Error of a message that is not, or no longer, a dead letter. */
export const noDeadLetter = () =>
  new ServiceError(
    "not_found",
    "No dead letter with this ID exists in this project. List them with: svc dead-letters list.",
  );

/** Why a decision that must not pass over a message has to wait. */
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

/** A reply to all that waits, by the way of the newest of it; where nothing waits, by that of the newest message. */
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

/** A draft that is regenerated answers so many messages, the newest. */
const MAX_REDRAFTED = 20;

/** A new draft for what is held; null when nothing is. */
function draftOf(state: ReviewState): Decision["work"] {
  const held = heldOf(state).slice(-MAX_REDRAFTED);
  const newest = held.at(-1);
  return newest === undefined ? null : { kind: "draft", covers: idsOf(held), answers: newest.id };
}

/** Why a decision has to wait for an earlier one. */
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

/** The end of a snooze. Throws invalid_request for a time that is past or too far ahead; `at` is where it is given. */
function snoozeEnd(until: string | null, at: string): Date | "reply" {
  if (until === null) return "reply";
  const end = new Date(until);
  const latest = Date.now() + REVIEW_LIMITS.snoozeMaxDays * DAY_MS;
  if (end.getTime() > Date.now() && end.getTime() <= latest) return end;
  const detail = `must be in the future, at most ${REVIEW_LIMITS.snoozeMaxDays} days ahead`;
  throw invalidInput([{ pointer: at, code: "out_of_range", detail }], "The decision");
}

/**
 * What changes on the ticket with an operator's text. A conversation in which a person writes is that person's, unless
 * somebody else has it or the text's actions say otherwise: the agent stays silent. A reply ends a snooze.
 */
function effectsOf({ ticket }: ReviewState, { actor }: DecisionCall, actions: ReplyActions = {}) {
  const { assignee = ticket.assignee ?? actor, snooze, addTags, priority } = actions;
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
  // Only once the draft is there does the ticket wait, and can go back to the agent.
  if (state.isUnderWay && ticket.stage === "received") throw conflict(ticket, UNDER_WAY);
  // Who was promised a person must get one: the ticket then waits for the next operator.
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
    // Who has the ticket works for the project that it leaves.
    ticket: {
      project,
      agentId,
      ...(isMoved ? { assignee: null } : {}),
      ...(work === null ? {} : { stage: "received" }),
    },
    why: `rerouted to ${call.target?.agentName ?? "no agent"}`,
    // A project may get another name: its id says whose events those from this one on are.
    data: { agentId, ...(isMoved ? { project: call.target?.projectName, projectId: project } : {}) },
    // What the former project's knowledge has said must not go out in the other one's name.
    dropsDraft: work === null || isMoved,
    work,
    lessons: [{ project, agentId }, ...(isMoved ? [{ project: ticket.project, agentId: null }] : [])],
  });
};

const resolve: Rule<"resolve"> = (state, { status = "resolved" }, call) => {
  const { ticket, waiting } = state;
  if (ticket.status === status && waiting.length === 0) throw illegal(`This ticket is already ${status}.`);
  return decisionOf("resolve", state, call, {
    ticket: { status, assignee: null, stage: isLegalMove(ticket.stage, "done") ? "done" : ticket.stage },
    why: status,
    data: { status },
    snooze: null,
    waiting: "reject",
    dropsDraft: true,
  });
};

/** Where a ticket rests when it is reopened: in review if its customer still waits for an answer. */
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
  const { status, assignee } = (restore ? closed.before : null) ?? { status: "open", assignee: ticket.assignee };
  return decisionOf("reopen", state, call, {
    ticket: { status, assignee, stage: restAfterReopen(state) },
    why: "reopened",
    snooze: null,
    waiting: "restore",
  });
};

/**
 * The reply that was given up, for what of it still waits; null when there is none. It was the ticket's last decision
 * to carry out, wherever the ticket has gone on to since.
 */
function failedReply({ failed, waiting }: ReviewState): SendWork | null {
  if (failed === null) return null;
  const covers = failed.covers.filter((id) => waiting.some((message) => message.id === id));
  const isWanted = failed.covers.length === 0 || covers.length > 0;
  return isWanted ? { ...failed, covers, answers: covers.at(-1) ?? failed.answers } : null;
}

/** Dead letters go through the pipeline again: all that wait, or only these. */
function revive(state: ReviewState, call: DecisionCall, only?: readonly string[]): Decision {
  const { stage } = state.ticket;
  return decisionOf("retry", state, call, {
    ticket: { stage: stage === "failed" ? "received" : stage },
    why: "sent again",
    waiting: "revive",
    ...(only === undefined ? {} : { only }),
  });
}

/** One dead letter goes through the pipeline again. Throws not_found when it waits no more. */
export function reviveOne(state: ReviewState, messageId: string, call: DecisionCall): Decision {
  if (state.waiting.some(({ id, state: isIn }) => id === messageId && isIn === "failed")) {
    return revive(state, call, [messageId]);
  }
  throw noDeadLetter();
}

const retry: Rule<"retry"> = (state, _input, call) => {
  const { waiting } = state;
  const work = failedReply(state);
  // What the agent has written was written before the customer went on; what a person has written is the person's
  // choice.
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

const ABOUT_DRAFT = { needsVersion: true, needsNewest: "always", needsCalm: true } as const;
const ABOUT_ANSWER = { needsVersion: false, needsNewest: "always", needsCalm: true } as const;
const ABOUT_CHAT = { needsVersion: false, needsNewest: "never", needsCalm: true } as const;
const ABOUT_TICKET = { needsVersion: false, needsNewest: "never", needsCalm: false } as const;

/** What an operator can decide, and when. */
export const DECISION_RULES: { [Action in ReviewAction]: ActionRule<Action> } = {
  approve: { ...ABOUT_DRAFT, decide: approve },
  edit: { ...ABOUT_DRAFT, decide: edit },
  reject: { ...ABOUT_DRAFT, decide: reject },
  regenerate: { ...ABOUT_ANSWER, decide: regenerate },
  resolve: { ...ABOUT_ANSWER, decide: resolve },
  reply: {
    ...ABOUT_CHAT,
    needsNewest: "versioned",
    decide: (state, { text, markdown = false, attachments, resolves, actions }, call) =>
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
