import type { Principal } from "@svc/auth";
import type { IncomingContext, IncomingMessage, MessageMode } from "@svc/contracts";
import { withinMs } from "@svc/primitives";
import { isUnavailable, ticketIdOf } from "@svc/store";
import type { CallOutcome, ProjectId, StoredResponse, StoredReply } from "@svc/store";
import { count, startSpan, traceIdOf } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";
import type { Response } from "express";
import type { ApiContext } from "../api-context.ts";
import type { IdempotencySlot, SlotClaim } from "./idempotency.ts";
import { finalSync, pendingSync, watchResponse } from "./response-writer.ts";
import type { CallIds, ResponseWriter } from "./response-writer.ts";
import type { Watch } from "./waiting-calls.ts";

/** A call that sends a message: the message, and how its caller gets the response. */
export interface MessageCall extends CallIds {
  project: ProjectId;
  mode: MessageMode;
  timeoutMs: number;
  incoming: IncomingMessage;
  /** What the channel needs besides the message. */
  routing: IncomingContext & { messageId: string };
  slot: IdempotencySlot;
  writer: ResponseWriter;
  response: Response;
}

/** Passes the message of a call to the channel, which commits it. */
export async function acceptMessageOf(
  { channel, log }: ApiContext,
  { incoming, routing, response, messageId, ticketId }: MessageCall,
): Promise<void> {
  await channel.receive(incoming, routing);
  if (!log.isLevelEnabled("debug")) return;
  const requestId = response.getHeader("X-Request-Id");
  log.debug({ requestId, traceId: traceIdOf(routing.trace), messageId, ticketId }, "message accepted");
}

/**
 * States of a sync call. `answered`: it responds with replies, or with the handoff text of a message that is held for
 * review. `timed_out`: it responds without replies, also because the service shuts down. `abandoned`: the caller has
 * disconnected before it had the response, or the call has failed.
 */
export type CallState = "accepted" | "waiting" | "answered" | "timed_out" | "abandoned";

/** Allowed transitions. Until its response is flushed, a call can be abandoned in every state. */
const TRANSITIONS: Record<CallState, readonly CallState[]> = {
  accepted: ["waiting", "abandoned"],
  waiting: ["answered", "timed_out", "abandoned"],
  answered: ["abandoned"],
  timed_out: ["abandoned"],
  abandoned: ["abandoned"],
};

/** A sync call, from its acceptance until the end of its connection. */
interface SyncCall extends MessageCall {
  state: CallState;
  watch: Watch;
  /** When its message was accepted, by the clock of the process in milliseconds. */
  acceptedAt: number;
  /** Replies in the response. If the caller does not receive it, they return to the buffer. */
  carried: StoredReply[];
  /** The response; null until it is sent. */
  sent: StoredResponse | null;
  /** Span of the delivery of these replies. */
  delivery: Span | null;
  /** Resolves when the store knows that the call no longer waits for the replies; null before. */
  ended: Promise<void> | null;
}

/** Time that a response waits for a write to the store. */
const WRITE_WAIT_MS = 1_000;
/** Status of a response without an agent's reply. */
const PENDING = 202;

function moveTo(call: SyncCall, state: CallState): void {
  if (!TRANSITIONS[call.state].includes(state)) throw new Error(`a sync call that is ${call.state} cannot be ${state}`);
  call.state = state;
}

const isAbandoned = ({ state }: SyncCall) => state === "abandoned";

/** Commits the message. A retry continues the call of the message if it is still unanswered. */
async function accept(context: ApiContext, call: SyncCall): Promise<void> {
  const { heartbeat, store, board } = context;
  const { project, messageId, ticketId } = call;
  // If this process counts as dead, others can collect its replies immediately.
  await heartbeat.ensureAlive();
  call.acceptedAt = performance.now();
  await acceptMessageOf(context, call);
  if (call.slot.isRetry) {
    await store.replies.reopenCall(project, messageId, heartbeat.instance);
    // The reply may be there already.
    board.wake(ticketId);
  }
}

/**
 * Returns the outcome of the message; null while the store is unavailable or others may count this process as dead:
 * the message is accepted, so the call keeps waiting. A retry claims the replies, since another reader may be
 * collecting them, and the next poll finds them again; otherwise they are reserved for the call as long as this
 * process is alive.
 */
async function readOutcome({ store, heartbeat }: ApiContext, call: SyncCall): Promise<CallOutcome | null> {
  const { project, messageId, slot } = call;
  const finished = call.watch.finished();
  // The outcome that came with the wake-up is current unless others have counted this process as dead since the
  // message was accepted: then another call may have claimed the replies.
  if (finished !== null && !slot.isRetry && heartbeat.isLeaseFreshSince(call.acceptedAt)) return finished;
  try {
    const outcome = slot.isRetry
      ? await store.replies.claimForCall(project, messageId, heartbeat.instance, slot.callId)
      : await store.replies.readForCall(project, messageId, heartbeat.instance);
    if (slot.isResumed && outcome !== null && outcome.state !== "received" && outcome.replies.length === 0) {
      // Null: the earlier call or another reader is handing them over. The next poll sees the result.
      const replies = await store.replies.listDelivered(project, messageId);
      return replies === null ? null : { ...outcome, replies };
    }
    return heartbeat.isLeaseFresh() ? outcome : null;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return null;
  }
}

/** Waits until the message has an outcome, the time is over, the call is abandoned, or the process shuts down. */
async function waitForOutcome(
  context: ApiContext,
  call: SyncCall,
): Promise<{ outcome: CallOutcome | null; timedOut: boolean }> {
  const deadline = performance.now() + call.timeoutMs;
  for (;;) {
    const reason = await call.watch.next(deadline - performance.now());
    const outcome = isAbandoned(call) ? null : await readOutcome(context, call);
    if (outcome !== null && outcome.state !== "received") return { outcome, timedOut: false };
    if (isAbandoned(call) || reason !== "poll") return { outcome: null, timedOut: reason === "timeout" };
    if (performance.now() >= deadline) return { outcome: null, timedOut: true };
    await call.writer.show(call);
  }
}

/** Ends the call in the store: its replies go to the buffer from now on. Never rejects. */
function endCall({ store, persister }: ApiContext, call: SyncCall): Promise<void> {
  const { project, messageId, ticketId, slot } = call;
  call.ended ??= persister.persist("finishing a sync request", async () => {
    await store.replies.endCall(project, messageId);
    if (slot.isRetry) await store.replies.release(project, ticketId, slot.callId);
  });
  return call.ended;
}

async function answer(call: SyncCall, response: StoredResponse, replies: StoredReply[]): Promise<void> {
  moveTo(call, "answered");
  call.carried = replies;
  call.sent = response;
  if (replies.length > 0) {
    const attributes = { "svc.way": "call", "svc.replies": replies.length };
    call.delivery = startSpan("deliver reply", { parent: call.routing.trace, attributes });
  }
  await call.writer.send(response);
}

/**
 * Responds that there is no reply in time, or that the replies are in the buffer or being collected, because this
 * process counted as dead for a while or the caller was disconnected.
 */
async function timeOut(context: ApiContext, call: SyncCall, timedOut: boolean): Promise<void> {
  moveTo(call, "timed_out");
  // Announcements from now on are for the drains of all replicas.
  call.watch.end();
  // The call ends before the response is sent, so that a caller that drains at once finds everything. While the store is
  // unavailable the response does not wait: nothing could be drained either.
  await withinMs(endCall(context, call), WRITE_WAIT_MS);
  call.sent = pendingSync(call, { status: "pending", timedOut, replies: [] });
  await call.writer.send(call.sent);
}

async function waitAndRespond(context: ApiContext, call: SyncCall): Promise<void> {
  moveTo(call, "waiting");
  call.writer.begin(call);
  const { outcome, timedOut } = await waitForOutcome(context, call);
  if (isAbandoned(call)) return;
  const final = outcome === null ? null : finalSync(call, outcome);
  if (outcome !== null && final !== null) {
    await answer(call, final, outcome.replies);
  } else if (outcome !== null && outcome.state !== "answered") {
    const { replies } = outcome;
    await answer(call, pendingSync(call, { status: "in_review", timedOut: false, replies }), replies);
  } else {
    await timeOut(context, call, timedOut);
  }
}

/** Ends the wait of a call whose connection is closed; abandons it if the caller did not receive the response. */
function closeConnection(call: SyncCall, isFlushed: boolean): void {
  if (!isFlushed) moveTo(call, "abandoned");
  call.watch.end();
  if (call.delivery === null) return;
  count("svc_deliveries_total", { way: "call", outcome: isFlushed ? "delivered" : "later" });
  if (!isFlushed) call.delivery.fail(null);
  call.delivery.end();
}

/** Records the end of a call: its response with what was delivered, or that its replies stay in the buffer. */
async function finish(context: ApiContext, call: SyncCall, closed: Promise<boolean>): Promise<void> {
  const isFlushed = !isAbandoned(call) && (await closed);
  if (isFlushed && call.sent !== null) {
    const replyIds = call.state === "answered" ? call.carried.map(({ id }) => id) : undefined;
    await call.slot.storeResponse(call.sent, replyIds);
    return;
  }
  await endCall(context, call);
  await call.slot.release();
}

/**
 * Handles a sync call: commits its message, waits for the reply and responds. Each reply is either in the response that
 * the caller receives, or in the buffer. Throws if there is no response yet.
 */
export async function handleSyncCall(context: ApiContext, accepted: MessageCall): Promise<void> {
  // Watches before the message is accepted: its reply may arrive before the acceptance returns.
  const { ticketId, messageId, writer } = accepted;
  const watch = context.board.watch(ticketId, { messageId, receivesTexts: writer.showsTexts });
  const call: SyncCall = {
    ...accepted,
    state: "accepted",
    watch,
    acceptedAt: Infinity,
    carried: [],
    sent: null,
    delivery: null,
    ended: null,
  };
  const closed = watchResponse(call.response).then((isFlushed) => {
    closeConnection(call, isFlushed);
    return isFlushed;
  });
  try {
    await accept(context, call);
    if (!isAbandoned(call)) await waitAndRespond(context, call);
  } catch (error) {
    // The store may have committed a message although it reported an error: its reply goes to the buffer.
    moveTo(call, "abandoned");
    if (!call.writer.fail(error)) throw error;
    context.log.error({ error, messageId: call.messageId }, "request failed after its event stream had started");
  } finally {
    call.watch.end();
    void finish(context, call, closed);
  }
}

/** Returns the chat of a sync call that ended without an agent's reply; null for any other response. */
function pendingChatOf({ status, body }: StoredResponse): string | null {
  if (status !== PENDING) return null;
  // Written by pendingSync, queuedAsync or queuedWebhook.
  const { mode, chatId } = JSON.parse(body) as { mode: string; chatId: string };
  return mode === "sync" ? chatId : null;
}

/** Sends the stored response of an earlier call. */
export function replay(response: Response, writer: ResponseWriter, stored: StoredResponse): Promise<void> {
  response.setHeader("Idempotent-Replayed", "true");
  return writer.send(stored);
}

/**
 * Handles the retry of a sync call that timed out or was held for review. If an uncollected reply has arrived since,
 * this call and later retries return it; the same applies to an operator's decision that there is none. Returns false
 * if there is nothing better than the stored response.
 */
export async function retrySyncCall(
  { store, persister, heartbeat }: ApiContext,
  { project }: Principal,
  { stored, slot, reclaim }: Extract<SlotClaim, { kind: "answered" }>,
  { response, writer }: { response: Response; writer: ResponseWriter },
): Promise<boolean> {
  const chatId = pendingChatOf(stored);
  if (chatId === null) return false;
  const newer = await reclaim();
  if (newer !== null) {
    await replay(response, writer, newer);
    return true;
  }
  const ticketId = ticketIdOf(project, "api", chatId);
  const release = async () => {
    await persister.persist("releasing replies", () => store.replies.release(project, ticketId, slot.callId));
    await slot.release();
  };
  const { messageId } = slot;
  const taking = store.replies.claimForCall(project, messageId, heartbeat.instance, slot.callId);
  // The store may have claimed the replies although it reported an error.
  taking.catch(() => void release());
  const outcome = await taking;
  const replies = outcome?.replies ?? [];
  const ids = { chatId, ticketId, messageId };
  const final = outcome === null ? null : finalSync(ids, outcome);
  const better =
    final ?? (replies.length === 0 ? null : pendingSync(ids, { status: "in_review", timedOut: false, replies }));
  // Others may count this process as dead and have claimed the same replies.
  if (better === null || !heartbeat.isLeaseFresh()) {
    // Waits a moment, so that the next retry can claim the slot.
    await withinMs(release(), WRITE_WAIT_MS);
    return false;
  }
  const replyIds = replies.map(({ id }) => id);
  void watchResponse(response).then((isFlushed) => (isFlushed ? slot.storeResponse(better, replyIds) : release()));
  await writer.send(better);
  return true;
}
