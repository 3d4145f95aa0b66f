import { describe, expect, test } from "@jest/globals";
import { REVIEW_ACTIONS, ServiceError, isLegalMove, ticketStageSchema } from "@svc/contracts";
import type { ReviewAction } from "@svc/contracts";
import { asProjectId, newId } from "@svc/store";
import type { Decision, ReviewState, SendWork } from "@svc/store";
import { DECISION_RULES, retryOne } from "./decision-rules.ts";
import type { DecisionCall } from "./decision-rules.ts";

const home = asProjectId(newId());
const [first, second] = [
  { id: newId(), state: "held" },
  { id: newId(), state: "failed" },
] as const;

/** A ticket in review with one message that is held and one that failed. */
function stateWith(change: Omit<Partial<ReviewState>, "ticket"> & { ticket?: Partial<ReviewState["ticket"]> } = {}) {
  const state: Omit<ReviewState, "ticket"> = {
    draft: { text: "The draft.", markdown: true, sources: [], covers: [first.id, second.id] },
    waiting: [first, second],
    newest: second,
    hasReceived: false,
    isPersonPromised: false,
    isUnderWay: false,
    failed: null,
    closed: { before: null, ended: [], isAssigneeActive: true },
    ...change,
  };
  const ticket: ReviewState["ticket"] = {
    id: newId(),
    homeProject: home,
    project: home,
    channelId: "api",
    chatId: "chat",
    subject: "first",
    status: "open",
    stage: "review",
    assignee: null,
    agentId: newId(),
    language: null,
    version: 3,
    ...change.ticket,
  };
  return { ...state, ticket };
}

const INPUTS: Partial<Record<ReviewAction, object>> = {
  edit: { text: "Mine." },
  reply: { text: "Mine." },
  note: { text: "A note." },
  assign: { assignee: "Ada" },
  reroute: { agentId: null },
  snooze: { until: null },
};

function decide(
  action: ReviewAction,
  state: ReviewState,
  {
    actor = "key:1",
    input = INPUTS[action] ?? {},
    target = null,
  }: { actor?: string; input?: object; target?: DecisionCall["target"] } = {},
): Decision {
  return DECISION_RULES[action].decide(state, input as never, { actor, target });
}

/** What an action makes of a state: legal or not. */
function tryTo(action: ReviewAction, state: ReviewState): Decision | null {
  try {
    return decide(action, state);
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_request", message: expect.stringMatching(/\.$/) });
    return null;
  }
}

describe("every action", () => {
  test.each(REVIEW_ACTIONS)("%s moves a ticket legally from whatever stage it rests in", (action) => {
    const rests = ticketStageSchema.options.filter((stage) => ["received", "review", "done", "failed"].includes(stage));
    for (const stage of rests) {
      for (const waiting of [[first, second], [first], [second], []]) {
        const assignee = action === "unassign" ? "Ada" : null;
        const state = stateWith({ waiting, ticket: { stage, assignee } });
        // No draft is in review without a message that is held, and nothing is held elsewhere.
        const isReal = stage === "review" ? waiting.includes(first) : !waiting.includes(first);
        if (!isReal || (stage === "received" && action !== "reply")) continue;
        const decision = tryTo(action, stage === "review" ? state : { ...state, draft: null });
        const to = decision?.ticket.stage ?? stage;
        expect([to, to === stage || isLegalMove(stage, to)]).toEqual([to, true]);
      }
    }
  });

  test.each(REVIEW_ACTIONS)("%s says who decided what", (action) => {
    const state = stateWith({
      ...(action === "retry" ? { waiting: [second] } : {}),
      ticket: { assignee: action === "unassign" ? "Ada" : null, status: action === "reopen" ? "spam" : "open" },
    });
    expect(decide(action, state)).toMatchObject({ action, actor: "key:1" });
  });
});

describe("a reply", () => {
  test.each(["approve", "edit", "reply"] as const)(
    "of %s covers all that waits, and answers the newest of it",
    (action) => {
      expect(decide(action, stateWith()).work).toMatchObject({
        kind: "send",
        author: action === "approve" ? "agent" : "operator",
        covers: [first.id, second.id],
        answers: second.id,
      });
    },
  );

  test.each(["edit", "reply"] as const)("of %s assigns the ticket to its author unless somebody has it", (action) => {
    expect(decide(action, stateWith()).ticket.assignee).toBe("key:1");
    expect(decide(action, stateWith({ ticket: { assignee: "Ada" } })).ticket.assignee).toBe("Ada");
  });

  test.each(["edit", "reply"] as const)("of %s with actions does all of them in one decision", (action) => {
    const actions = { addTags: ["refund"], priority: "high", assignee: "operator:2", snooze: { until: null } } as const;
    const state = stateWith({ ticket: { assignee: "Ada" } });
    const input = { text: "Mine.", actions };
    expect(decide(action, state, { input })).toMatchObject({
      ticket: { assignee: "operator:2", stage: "delivering" },
      fields: { addTags: ["refund"], priority: "high" },
      snooze: "reply",
      work: { kind: "send", text: "Mine." },
      data: { actions },
    });
    const nobody = decide(action, state, { input: { text: "Mine.", actions: { assignee: null } } });
    expect([nobody.ticket.assignee, nobody.snooze]).toEqual([null, null]);
    const past = { text: "Mine.", actions: { snooze: { until: "2020-01-01T00:00:00Z" } } };
    expect(() => decide(action, state, { input: past })).toThrow(ServiceError);
  });

  test("of approve leaves the ticket unassigned: it is the agent's answer", () => {
    expect(decide("approve", stateWith()).ticket.assignee).toBeNull();
  });

  test("goes by the chat's newest message where nothing waits", () => {
    const state = stateWith({ waiting: [], draft: null, ticket: { stage: "done" } });
    expect(decide("reply", state).work).toMatchObject({ covers: [], answers: second.id });
  });

  test("in the draft's place is Markdown where the draft is, unless it says otherwise", () => {
    expect(decide("edit", stateWith()).work).toMatchObject({ markdown: true });
    expect(decide("edit", stateWith(), { input: { text: "x", markdown: false } }).work).toMatchObject({
      markdown: false,
    });
  });

  test("is not made of an empty draft", () => {
    const draft = { text: " ", markdown: false, sources: [], covers: [first.id, second.id] };
    expect(() => decide("approve", stateWith({ draft }))).toThrow(/draft is empty/);
  });

  test("is not made of a draft where a message waits that it does not answer, as one that failed", () => {
    const draft = { text: "The draft.", markdown: true, sources: [], covers: [first.id] };
    const refused = expect.objectContaining({ code: "version_conflict", message: expect.stringMatching(/retry/) });
    expect(() => decide("approve", stateWith({ draft }))).toThrow(refused);
    expect(decide("approve", stateWith({ draft, waiting: [first] })).work).toMatchObject({ covers: [first.id] });
    expect(decide("edit", stateWith({ draft })).work).toMatchObject({ covers: [first.id, second.id] });
  });
});

test("a draft that is made anew answers what is held, the newest twenty messages", () => {
  const held = Array.from({ length: 25 }, () => ({ id: newId(), state: "held" }) as const);
  expect(decide("regenerate", stateWith({ waiting: [...held, second] })).work).toEqual({
    kind: "draft",
    covers: held.slice(5).map(({ id }) => id),
    answers: held.at(-1)?.id,
  });
});

describe("a ticket that is given back", () => {
  test("goes on with the agent where nobody was promised a person", () => {
    expect(decide("unassign", stateWith({ ticket: { assignee: "Ada" } }))).toMatchObject({
      ticket: { assignee: null, stage: "received" },
      waiting: "return",
      dropsDraft: true,
    });
  });

  test("waits for the next person, with its draft, where that is asked for", () => {
    const state = stateWith({ ticket: { assignee: "Ada" } });
    expect(decide("unassign", state, { input: { keepsDraft: true } })).toMatchObject({
      ticket: { assignee: null, stage: "review" },
      waiting: "stay",
      dropsDraft: false,
    });
  });

  test("waits for the draft that is being made anew", () => {
    const state = stateWith({ isUnderWay: true, ticket: { assignee: "Ada", stage: "received" } });
    expect(() => decide("unassign", state)).toThrow(expect.objectContaining({ code: "version_conflict" }));
  });

  test("stays in review where somebody was", () => {
    const state = stateWith({ isPersonPromised: true, ticket: { assignee: "Ada" } });
    expect(decide("unassign", state)).toMatchObject({
      ticket: { assignee: null, stage: "review" },
      waiting: "stay",
      dropsDraft: false,
    });
  });
});

describe("a ticket that is reopened", () => {
  const before = { status: "pending", stage: "failed", assignee: "Ada" } as const;
  const closed = (ended: ReviewState["waiting"], was: ReviewState["closed"]["before"] = before) =>
    stateWith({
      draft: null,
      waiting: [],
      closed: { before: was, ended, isAssigneeActive: true },
      ticket: { status: "resolved", stage: "done" },
    });

  test("rests where its messages are: in review, failed, or done", () => {
    const was = { ...before, stage: "done" } as const;
    const stages = [[first, second], [second], []].map((ended) => decide("reopen", closed(ended, was)).ticket.stage);
    expect(stages).toEqual(["review", "failed", "done"]);
  });

  test("is in review again where a person was promised and nothing is held", () => {
    expect(decide("reopen", closed([], { ...before, stage: "review" })).ticket.stage).toBe("review");
  });

  test("goes back to the operator who has resolved it, if that operator is still active", () => {
    const actor = `operator:${newId()}`;
    const resolved = decide("resolve", stateWith(), { actor });
    expect(resolved.ticket).toMatchObject({ status: "resolved", assignee: actor });
    expect(decide("resolve", stateWith({ ticket: { assignee: "Ada" } }), { actor }).ticket.assignee).toBe("Ada");
    expect(decide("resolve", stateWith(), { actor: "key:1" }).ticket.assignee).toBeNull();
    expect(decide("resolve", stateWith(), { actor, input: { status: "spam" } }).ticket.assignee).toBeNull();
    const reopened = [true, false].map((isAssigneeActive) => {
      const ticket = { status: "resolved", stage: "done", assignee: actor } as const;
      return decide("reopen", stateWith({ ticket, closed: { before: null, ended: [], isAssigneeActive } })).ticket;
    });
    expect(reopened.map(({ assignee }) => assignee)).toEqual([actor, null]);
    const other = `operator:${newId()}`;
    const again = stateWith({ ticket: { status: "resolved", assignee: actor } });
    expect(decide("reply", again, { actor: other, input: { text: "Hi." } }).ticket.assignee).toBe(other);
  });

  test("has its former status and assignee only with restore", () => {
    expect(decide("reopen", closed([first])).ticket).toMatchObject({ status: "open", assignee: null });
    const restored = decide("reopen", closed([first]), { input: { restore: true } });
    expect(restored).toMatchObject({ ticket: { status: "pending", assignee: "Ada" }, waiting: "restore" });
    // An earlier version closed it.
    const unknown = decide("reopen", closed([first], null), { input: { restore: true } });
    expect(unknown.ticket).toMatchObject({ status: "open", stage: "review", assignee: null });
  });
});

describe("a ticket that is rerouted", () => {
  test("to another project is nobody's there, and both projects learn", () => {
    const target = { project: asProjectId(newId()), projectName: "north", agentName: "billing" };
    const agentId = newId();
    const state = stateWith({ ticket: { assignee: "Ada" } });
    expect(decide("reroute", state, { input: { agentId, project: "north" }, target })).toMatchObject({
      ticket: { project: target.project, agentId, assignee: null, stage: "received" },
      work: { kind: "draft", covers: [first.id], answers: first.id },
      // It was made of the former project's knowledge.
      dropsDraft: true,
      lessons: [
        { project: target.project, agentId },
        { project: home, agentId: null },
      ],
    });
  });

  test("to no agent has no draft any more", () => {
    expect(decide("reroute", stateWith())).toMatchObject({
      ticket: { agentId: null, stage: "review" },
      work: null,
      dropsDraft: true,
    });
  });
});

describe("what is retried", () => {
  const failed: SendWork = {
    kind: "send",
    author: "operator",
    text: "Mine.",
    markdown: false,
    sources: [],
    fileIds: [],
    resolves: false,
    covers: [first.id, newId()],
    answers: newId(),
  };

  test("is the reply that was given up, for what of it still waits", () => {
    const state = stateWith({ failed });
    expect(decide("retry", state).work).toMatchObject({ text: "Mine.", covers: [first.id], answers: first.id });
  });

  test("is no reply of the agent where the customer has written since", () => {
    const mine = stateWith({ failed: { ...failed, author: "agent" } });
    expect(decide("retry", mine)).toMatchObject({ work: null, waiting: "revive" });
    const newer = { id: newId(), state: "held" } as const;
    const state = stateWith({ failed: { ...failed, author: "agent" }, waiting: [first, newer] });
    expect(() => decide("retry", state)).toThrow(/customer has written since/);
  });

  test("is no reply while the customer has written something that nobody has read", () => {
    const state = stateWith({ failed, hasReceived: true });
    expect(() => decide("retry", state)).toThrow(expect.objectContaining({ code: "version_conflict" }));
  });

  test("is a reply that was not asked for, wherever the ticket has gone on to", () => {
    const state = stateWith({ failed: { ...failed, covers: [] }, waiting: [], ticket: { stage: "done" } });
    expect(decide("retry", state).work).toMatchObject({ text: "Mine.", covers: [], answers: failed.answers });
  });

  test("may be one message alone, if it is a dead letter", () => {
    const call = { actor: "key:1", target: null };
    expect(retryOne(stateWith({ ticket: { stage: "failed" } }), second.id, call)).toMatchObject({
      ticket: { stage: "received" },
      waiting: "revive",
      only: [second.id],
    });
    const notFound = expect.objectContaining({ code: "not_found" });
    expect(() => retryOne(stateWith(), first.id, call)).toThrow(notFound);
  });

  test("is no reply whose messages have been decided on since", () => {
    const state = stateWith({ waiting: [second], failed });
    expect(decide("retry", state)).toMatchObject({ work: null, waiting: "revive" });
  });
});
