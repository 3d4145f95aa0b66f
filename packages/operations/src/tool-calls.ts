import { isMarkOf } from "@svc/agents";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { toolCallStateSchema } from "@svc/contracts";
import type { ToolCall } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { ToolCallDecidedError } from "@svc/store";
import type { Decision, ReviewState, Store, TicketRecord, ToolCallRecord } from "@svc/store";
import { asToolCall } from "./ticket-items.ts";
import { audited } from "./audited.ts";
import { UNREAD, UNDER_WAY, conflict } from "./decision-rules.ts";
import { operation, readPage, searchErrors, notInProject } from "./operation.ts";
import type { ExpectedVersions, VersionedId } from "./operation.ts";
import { announce, decideWithRetries } from "./reviews.ts";
import type { ReviewDeps } from "./reviews.ts";

/** Returns a page of the tool calls of the principal's project's agents, newest first. */
export const listToolCalls = operation("listToolCalls", async ({ store }, principal, { state, q, ...input }) => {
  const known = toolCallStateSchema.optional().safeParse(state);
  const detail = `must be one of ${toolCallStateSchema.options.join(", ")}`;
  return readPage("tool-calls", input, {
    read: ({ limit, before }) => store.toolCalls.listPage(principal.project, { limit, before, state: known.data }),
    asItem: (call) => asToolCall(call, principal.projectName),
    found: [...(known.success ? [] : [{ pointer: "/state", code: "invalid_value", detail }]), ...searchErrors(q)],
  });
});

/** Returns a call of this project with its current ticket. Throws not_found unless the project has both. */
async function readCall(
  store: Store,
  { project }: Principal,
  id: string,
): Promise<{ call: ToolCallRecord; ticket: TicketRecord }> {
  const call = isUuid(id) ? await store.toolCalls.find(project, id) : null;
  const ticket = call === null ? null : await store.ticketDetails.find(project, call.ticketId);
  if (call === null || ticket === null) throw notInProject("tool call");
  return { call, ticket };
}

/** Returns a call with the version of its ticket. */
export const getToolCall = operation(
  "getToolCall",
  async ({ store }, principal, id): Promise<{ item: ToolCall; version: number }> => {
    const { call, ticket } = await readCall(store, principal, id);
    return { item: asToolCall(call, principal.projectName), version: ticket.version };
  },
);

/** Maximum number of messages, the newest ones, that a regenerated draft answers. */
const MAX_REDRAFTED = 20;

const DECISIONS = {
  approve: { state: "approved", decision: "approveToolCall", why: "approved a call of" },
  reject: { state: "rejected", decision: "rejectToolCall", why: "rejected a call of" },
} as const;

/** Throws version_conflict if a call cannot be decided any more, or not yet. */
function requireUnchanged(
  { ticket, waiting, hasReceived, isUnderWay }: ReviewState,
  { messageId, agentId }: ToolCallRecord,
  { versions, needsAgent }: { versions: ExpectedVersions; needsAgent: boolean },
): void {
  if (versions !== null && !versions.includes(ticket.version)) {
    throw conflict(
      ticket,
      `The ticket has changed; its current version is ${ticket.version}. Fetch it again before you decide.`,
    );
  }
  if (isUnderWay) throw conflict(ticket, UNDER_WAY);
  if (hasReceived) throw conflict(ticket, UNREAD);
  const held = waiting.filter(({ state }) => state === "held");
  if (held.every(({ id }) => id !== messageId)) {
    throw conflict(
      ticket,
      "The message that this tool call belongs to is no longer waiting, so the tool is not called.",
    );
  }
  if (versions === null && held.at(-1)?.id !== messageId) {
    const text =
      "The customer has written since the agent requested this tool call. Read the ticket, and send its ETag in If-Match if the call is still wanted.";
    throw conflict(ticket, text);
  }
  if (needsAgent && ticket.agentId !== agentId) {
    throw conflict(
      ticket,
      "The ticket is now handled by another agent. Use regenerate, so that this agent requests its own tool calls.",
    );
  }
}

/** Returns the effect of a decision about a call on its ticket: the draft is regenerated, for all held messages. */
function planOf(
  action: keyof typeof DECISIONS,
  call: ToolCallRecord,
  { actor, versions }: { actor: string; versions: ExpectedVersions },
) {
  const { state: decided, decision, why } = DECISIONS[action];
  return (state: ReviewState): Decision => {
    requireUnchanged(state, call, { versions, needsAgent: action === "approve" });
    const { project, status, assignee, agentId } = state.ticket;
    const covers = state.waiting.filter((message) => message.state === "held").map(({ id }) => id);
    return {
      // The pipeline treats it as a regenerated draft; the event has the decision.
      action: "regenerate",
      actor,
      ticket: { project, status, stage: "received", assignee, agentId },
      why: `${why} ${call.tool}`,
      data: { decision, toolCallId: call.id, tool: call.tool },
      waiting: "stay",
      dropsDraft: false,
      interrupts: true,
      work: { kind: "draft", covers: covers.slice(-MAX_REDRAFTED), answers: covers.at(-1) ?? call.messageId },
      toolCall: { id: call.id, state: decided },
      lessons: [],
    };
  };
}

/** An approval applies to an unchanged agent and tool. Throws version_conflict if one has changed. */
async function requireSameTool(
  store: Store,
  { project }: Principal,
  { call, ticket }: { call: ToolCallRecord; ticket: { version: number } },
): Promise<void> {
  const agent = await store.agents.find(project, call.agentId);
  const tools = agent?.enabled === true ? await store.agents.readTools(project, call.agentId) : [];
  if (tools.some((tool) => isMarkOf(tool, call.mark))) return;
  const text =
    "The agent or its tool has been changed, disabled or removed since it requested this tool call. Use regenerate.";
  throw conflict(ticket, text);
}

/** Creates the operation of a decision. */
function operationOf(action: keyof typeof DECISIONS) {
  return audited(
    `tool-calls.${action}`,
    async (deps: ReviewDeps, principal: Principal, { id, versions = null }: VersionedId): Promise<ToolCall> => {
      requireScope(principal, "tickets:write");
      const { store } = deps;
      const { project, projectName, actor } = principal;
      const { call, ticket } = await readCall(store, principal, id);
      if (call.state !== "waiting")
        throw conflict(ticket, `This tool call is ${call.state} and does not need a decision.`);
      if (action === "approve") await requireSameTool(store, principal, { call, ticket });
      const plan = planOf(action, call, { actor, versions });
      try {
        const decided = await decideWithRetries(deps, principal, call.ticketId, plan);
        if (decided === null) throw notInProject("tool call");
        await announce(deps, decided);
      } catch (error) {
        if (error instanceof ToolCallDecidedError)
          throw conflict(ticket, "Another operator has just decided this tool call.");
        throw error;
      }
      return asToolCall((await store.toolCalls.find(project, id)) ?? call, projectName);
    },
    { objectOf: ([{ id }]) => id },
  );
}

/** Approves a waiting call. See `decideToolCall`. */
export const approveToolCall = operationOf("approve");
/** Rejects a waiting call. See `decideToolCall`. */
export const rejectToolCall = operationOf("reject");

/**
 * Approves or rejects a waiting call, in one transaction with the work to regenerate the draft; the pipeline makes an
 * approved call once. Scope tickets:write. Throws not_found, and version_conflict with the current `ETag` of the
 * ticket: if the call was decided already, its message is answered or the customer has written since, another agent has
 * the ticket, the tool was changed, or the ticket has none of the expected versions.
 */
export const decideToolCall = { approve: approveToolCall, reject: rejectToolCall } as const;
