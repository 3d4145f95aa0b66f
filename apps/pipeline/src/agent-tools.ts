import { offerTools, openHeaders, outcomeText } from "@svc/agents";
import type { RequestedCall, CallResult, CallableTool, ChatTool, OnText, ToolCustomer } from "@svc/agents";
import type { Agent, ToolCallState } from "@svc/contracts";
import type { ToolCallRecord, ToolCaller } from "@svc/store";
import { cutText } from "@svc/text";
import type { AgentAnswer, ReviewRun, Run, StageContext } from "./run.ts";

/** Time for which the result of a reading call is reused for the same message. */
const READ_VALID_MS = 15 * 60_000;
/** Maximum length of a call's arguments in the reasons of a draft. */
const SHOWN_ARGUMENTS_MAX_CHARS = 200;

const WAITS =
  "Not called yet: an operator must approve this call first. Do not say that it was done. The result follows later.";
const REJECTED = "Not called: an operator rejected this call. Do not request it again.";
const UNKNOWN =
  "It is unknown whether this call took effect, and it is not repeated. An operator must check. Do not say that it was done.";
const ABORTED = "The call was aborted.";
const TAKEN_OVER = "Not called: another process is handling the conversation.";

/** Why an operator must review the answer, by the state of a call. */
const HELD: Partial<Record<ToolCallState, (what: string) => string>> = {
  waiting: (what) => `${what} is waiting for an operator's approval.`,
  approved: (what) => `${what} is approved but has not been called yet. Use regenerate.`,
  unknown: (what) => `It is unknown whether ${what} was called.`,
};

/** The tools of one run, and the effect of their calls on its answer. */
export interface RunTools {
  tools: ChatTool[];
  /** Results of calls that operators have decided or earlier attempts have made, for the model. */
  results: CallResult[];
  /** Passes on the unfinished answer while no call requires a review. */
  suppressWhileHeld(onText: OnText): OnText;
  /** Holds the answer for review if a call waits or may not have been made. Rejects with the store's errors. */
  finish(answer: AgentAnswer): Promise<AgentAnswer>;
}

const NO_TOOLS: RunTools = {
  tools: [],
  results: [],
  suppressWhileHeld: (onText) => onText,
  finish: (answer) => Promise.resolve(answer),
};

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,190}$/;
const emailIn = (...texts: unknown[]) =>
  texts.find((text): text is string => typeof text === "string" && EMAIL.test(text));

/**
 * Returns the sender of the message as far as it is proven: a caller of the HTTP API vouches for its users by its
 * key, and the widget only passes on a user id that its site has signed. Hooks contain what strangers may have
 * entered in a form, and Telegram ids are not those of a shop.
 */
export function customerOf({
  channelId,
  userId,
  channelMeta,
  ticketId,
  chatId,
}: Pick<Run["message"], "channelId" | "userId" | "channelMeta" | "ticketId" | "chatId">): ToolCustomer {
  const isVouched = channelId === "api" && channelMeta["origin"] !== "hook";
  const isProven = isVouched || (channelId === "widget" && userId !== null);
  const email = isProven ? emailIn(isVouched ? channelMeta["email"] : undefined, userId) : undefined;
  return {
    isAnonymous: !isProven,
    values: {
      "ticket.id": ticketId,
      "chat.id": chatId,
      ...(isProven && userId !== null ? { "customer.userId": userId } : {}),
      ...(email === undefined ? {} : { "customer.email": email }),
    },
  };
}

function argumentsText({ arguments: given }: Pick<ToolCallRecord, "arguments">): string {
  const text = JSON.stringify(given);
  return text.length <= SHOWN_ARGUMENTS_MAX_CHARS ? text : `${cutText(text, SHOWN_ARGUMENTS_MAX_CHARS)} …`;
}

/** Returns the description of a finished or waiting call for a model. */
function describeRecord({ state, result }: ToolCallRecord): string {
  const text = result ?? "";
  switch (state) {
    case "done":
    case "failed":
      return outcomeText({ state, text });
    case "rejected":
      return REJECTED;
    case "waiting":
    case "approved":
      return WAITS;
    default:
      return UNKNOWN;
  }
}

/** True if the result of an earlier reading call can be used again. */
function isFresh({ state, finishedAt }: ToolCallRecord): boolean {
  return state === "done" && finishedAt !== null && Date.now() - finishedAt.getTime() < READ_VALID_MS;
}

/** Makes a call that is recorded, and records its result. */
async function makeCall(
  { store }: StageContext,
  tool: CallableTool,
  call: ToolCallRecord,
  signal: AbortSignal,
): Promise<ToolCallRecord> {
  const startedAt = performance.now();
  const passedMs = () => Math.round(performance.now() - startedAt);
  const { state, text } = await tool.call(call.arguments, { callId: call.id, signal }).catch(async (error: unknown) => {
    // Only reading calls reject: they have had no effect.
    await store.toolCalls.finish(call.project, call.id, {
      state: "failed",
      result: ABORTED,
      durationMs: passedMs(),
    });
    throw error;
  });
  const durationMs = passedMs();
  await store.toolCalls.finish(call.project, call.id, { state, result: text, durationMs });
  return { ...call, state, result: text, durationMs };
}

/** Returns the tools of an agent that can be called now. */
async function callableTools(context: StageContext, run: Run, agent: Pick<Agent, "id">): Promise<CallableTool[]> {
  const { store, openTools } = context;
  return openTools(openHeaders(await store.agents.readTools(run.project.id, agent.id), store.sealer));
}

/**
 * Opens the tools of an agent for one run. Each call is recorded before it is made. A call that writes is made once for the
 * messages that are not answered yet: a later attempt, a regenerated draft or another of these messages gets its result; one
 * whose worker crashed is never made again. A call that needs approval is recorded and not made.
 */
// oxlint-disable-next-line max-lines-per-function -- One record of tools over one state of a run.
export async function openRunTools(context: StageContext, run: Run, agent: Agent): Promise<RunTools> {
  if (agent.tools.length === 0) return NO_TOOLS;
  const { store } = context;
  const { message, project } = run;
  const { ticketId, messageId, leaseId } = message;
  const caller: ToolCaller = { home: message.project, ticketId, messageId, leaseId, agentId: agent.id };
  const held = new Map<string, string>();
  const written = new Set<string>();
  const errors: unknown[] = [];
  const running = new Set<Promise<string>>();

  /** Records whether a call requires a review of the answer, and why, and whether it has written. */
  function recordCall(call: ToolCallRecord): void {
    if (call.state === "done" && call.access === "write") written.add(call.tool);
    const describe = HELD[call.state];
    if (describe === undefined) return;
    held.set(call.id, describe(`${call.tool} ${argumentsText(call)} (tool call ${call.id})`));
  }

  /** Gives up a call that is recorded as running although no process makes it. */
  async function giveUp(call: ToolCallRecord): Promise<ToolCallRecord> {
    await store.toolCalls.giveUp(project.id, call.id, UNKNOWN);
    return { ...call, state: "unknown" };
  }

  /** Returns a call that was requested before, made again if it only reads and its result is old. */
  async function repeatCall(tool: CallableTool, call: ToolCallRecord, signal: AbortSignal): Promise<ToolCallRecord> {
    const isRead = tool.access === "read" && call.access === "read";
    // A call that an operator has decided, or has to, is unchanged.
    if (isRead && tool.approval === "auto" && call.decidedAt === null && call.state !== "waiting") {
      if (isFresh(call)) return call;
      await store.toolCalls.beginAgain(project.id, call.id);
      return makeCall(context, tool, call, signal);
    }
    return call.state === "running" ? giveUp(call) : call;
  }

  async function answerCall(asked: RequestedCall, signal: AbortSignal): Promise<string> {
    const { tool, key, occurrence } = asked;
    const state = tool.approval === "operator" ? "waiting" : "running";
    const wanted = {
      tool: tool.name,
      mark: tool.mark,
      access: tool.access,
      key,
      occurrence,
      arguments: asked.arguments,
    };
    const begun = await store.toolCalls.begin(project.id, caller, { ...wanted, state });
    if (begun === null) return TAKEN_OVER;
    const isToMake = begun.isNew && state === "running";
    const call = isToMake
      ? await makeCall(context, tool, begun.call, signal)
      : begun.isNew
        ? begun.call
        : await repeatCall(tool, begun.call, signal);
    recordCall(call);
    return describeRecord(call);
  }

  async function handleToolCall(asked: RequestedCall, signal: AbortSignal): Promise<string> {
    // An aborted run starts no calls.
    signal.throwIfAborted();
    const answering = answerCall(asked, signal);
    running.add(answering);
    try {
      return await answering;
    } catch (error) {
      signal.throwIfAborted();
      // The whole run is retried: see `finish`.
      errors.push(error);
      return TAKEN_OVER;
    } finally {
      running.delete(answering);
    }
  }

  /** Records a call of an earlier run, whether or not the model requests it again: no process makes it any more. */
  async function takeOver(call: ToolCallRecord): Promise<ToolCallRecord> {
    const known = call.state === "running" ? await giveUp(call) : call;
    recordCall(known);
    return known;
  }

  const [tools, known] = await Promise.all([
    callableTools(context, run, agent),
    store.toolCalls.listKnown(project.id, ticketId).then((calls) => Promise.all(calls.map(takeOver))),
  ]);
  return {
    tools: offerTools(tools, handleToolCall, {
      customer: customerOf(message),
      onRefused: ({ name }, refusal) => held.set(name, `${name}: ${refusal}`),
    }),
    results: known.map((call) => ({ tool: call.tool, text: `${argumentsText(call)}\n${describeRecord(call)}` })),

    suppressWhileHeld(onText) {
      let hasPassed = false;
      return (piece) => {
        if (held.size === 0) {
          hasPassed = true;
          onText(piece);
        } else if (hasPassed) {
          hasPassed = false;
          onText({ offset: 0, text: "" });
        }
      };
    },

    async finish(answer) {
      // An aborted model leaves its calls behind: how they end decides whether the answer may be sent.
      await Promise.allSettled(running);
      if (errors.length > 0) throw errors[0];
      // An operator must learn what was done even if the model gave no answer in the end.
      const hasUnreportedWrites = written.size > 0 && answer.model?.fallback != null;
      if (held.size === 0 && !hasUnreportedWrites) return answer;
      const unreported = hasUnreportedWrites
        ? [`${[...written].join(", ")} was called, and the answer does not mention it.`]
        : [];
      const why = [...held.values(), ...unreported, answer.why].join(" ");
      return { ...answer, why, model: { usage: null, fallback: null, ...answer.model, mustReview: true } };
    },
  };
}

/** Why an approved call is not made. */
const DROPPED =
  "Not called: since the approval, the agent or its tool was changed, disabled or removed, or the tool is unreachable.";

/** Returns the tools of the agent that requested a call: none if it is disabled. */
async function toolsAfterApproval(context: StageContext, run: Run, agentId: string): Promise<CallableTool[]> {
  const agent = await context.store.agents.find(run.project.id, agentId);
  return agent?.enabled === true ? callableTools(context, run, agent) : [];
}

/**
 * Makes the calls that operators have approved for the messages of a draft, each at most once. A call whose worker
 * crashed while making it is never repeated, and the operator reads that its effect is unknown. A call whose tool has
 * changed is not made.
 */
export async function makeApprovedCalls(context: StageContext, run: ReviewRun): Promise<void> {
  const { store, log } = context;
  const { ticketId, work } = run.review;
  const approved = await store.toolCalls.listApproved(run.project.id, ticketId);
  const tools = new Map<string, CallableTool[]>();
  for (const call of approved) {
    if (call.state === "running") {
      await store.toolCalls.giveUp(call.project, call.id, UNKNOWN);
      continue;
    }
    const known = tools.get(call.agentId) ?? (await toolsAfterApproval(context, run, call.agentId));
    tools.set(call.agentId, known);
    const tool = known.find(({ name, mark }) => name === call.tool && mark === call.mark);
    if (tool === undefined || !work.covers.includes(call.messageId)) {
      await store.toolCalls.drop(call.project, call.id, DROPPED);
    } else if (await store.toolCalls.claimApproved(call.project, call.id)) {
      const { state, durationMs } = await makeCall(context, tool, call, run.signal);
      log.info({ ticketId, toolCallId: call.id, tool: call.tool, state, durationMs }, "approved tool call made");
    }
  }
}
