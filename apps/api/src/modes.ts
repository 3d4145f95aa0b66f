import { messageModeSchema } from "@svc/contracts";
import type {
  AsyncAnswer,
  MessageMode,
  PendingAnswer,
  ReplyAnnouncement,
  SyncAnswer,
  WebhookAnswer,
} from "@svc/contracts";
import { withinMs } from "@svc/primitives";
import { asProjectId, isUnavailable } from "@svc/store";
import { count, startSpan } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";
import type { CallOutcome, KeptAnswer, ProjectId, StoredReply } from "@svc/store";
import type { Response } from "express";
import type { ApiContext, SettleContext } from "./api-context.ts";
import type { CallNames, CallWriter } from "./call-writer.ts";
import { settleCallbacks } from "./callbacks/settle-callbacks.ts";
import { jsonAnswer, sendAnswer } from "./idempotency.ts";
import type { CallPlace } from "./idempotency.ts";
import { drainUrlOf, replyJson } from "./reply-json.ts";
import type { Watch } from "./reply-board.ts";
import { watchAnswer } from "./watch-answer.ts";

/** A message that was accepted and has to be answered. */
export interface AcceptedCall {
  project: ProjectId;
  chatId: string;
  messageId: string;
  ticketId: string;
  timeoutMs: number;
  watch: Watch;
  /** Where its answer is kept for repeats. */
  place: CallPlace;
  /** How it is answered. */
  writer: CallWriter;
  /** Id of the final callback; null in the other modes. */
  deliveryId: string | null;
  /** The place of its request in a trace, as `traceparent` says it; null where nobody traces. */
  trace: string | null;
}

/** How long a timed-out call waits for its end to be written, and an answer for being kept. */
const WRITE_WAIT_MS = 1_000;

/** How a mode answers the POST, and what it does when there is news of the message. */
interface Mode {
  /** True when the sender keeps its call open for the reply. */
  holdsCall: boolean;
  respond(context: ApiContext, call: AcceptedCall, response: Response): Promise<void>;
  /** Safe to repeat: the same news may come twice. */
  settle(context: SettleContext, news: readonly ReplyAnnouncement[]): Promise<void>;
}

const idsOf = (replies: readonly StoredReply[]) => replies.map((reply) => reply.id);

/** Whoever waits for the replies of the conversations looks; they are read, never sent. */
function tellWaiting({ tell }: SettleContext, news: readonly ReplyAnnouncement[]): Promise<void> {
  for (const { ticketId, messageId } of news) tell(ticketId, messageId ?? undefined);
  return Promise.resolve();
}

/**
 * What the call found, or null while the store is away or others may count this process as dead: the message is
 * accepted, so the call goes on waiting. A call that came back takes what it finds, since a reader of the drain may be
 * at the same replies, and the next look finds it again; else they are its own as long as it lives.
 */
async function look({ store, presence }: ApiContext, call: AcceptedCall): Promise<CallOutcome | null> {
  try {
    const { project, messageId, place } = call;
    const outcome = place.isRepeat
      ? await store.replies.takeForCall(project, messageId, presence.instance, place.callId)
      : await store.replies.readForCall(project, messageId, presence.instance);
    if (place.isResumed && outcome !== null && outcome.state !== "received" && outcome.replies.length === 0) {
      // Null: the earlier call, or a reader of the drain, is at them in this moment. The next look sees what came of it.
      const replies = await store.replies.listHandedOver(project, messageId);
      return replies === null ? null : { ...outcome, replies };
    }
    return presence.isSure() ? outcome : null;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return null;
  }
}

/** Waits for the outcome of a message: until it is there, the time is over, the caller hangs up, or the process stops. */
async function waitForOutcome(
  context: ApiContext,
  call: AcceptedCall,
  isGone: () => boolean,
): Promise<{ outcome: CallOutcome | null; timedOut: boolean }> {
  const deadline = performance.now() + call.timeoutMs;
  for (;;) {
    const news = await call.watch.next(deadline - performance.now());
    const outcome = isGone() ? null : await look(context, call);
    if (outcome !== null && outcome.state !== "received") return { outcome, timedOut: false };
    if (isGone() || news !== "look") return { outcome: null, timedOut: news === "timeout" };
    if (performance.now() >= deadline) return { outcome: null, timedOut: true };
    await call.writer.show(call);
  }
}

/**
 * The final answer of a sync call: the replies to its message; or none, because an operator has decided so, or has
 * answered a later message of the chat in place of both. Null when there is no such answer (yet): the reply is still to
 * come, or in the buffer, or with a reader of it.
 */
export function finalSync(call: CallNames, { state, coveredBy, replies }: CallOutcome): KeptAnswer | null {
  const isFinal = state === "rejected" || (state === "answered" && (replies.length > 0 || coveredBy !== null));
  if (!isFinal) return null;
  const { chatId, ticketId, messageId } = call;
  const body: SyncAnswer = {
    ok: true,
    mode: "sync",
    ...(state === "rejected" ? { status: state } : {}),
    chatId,
    ticketId,
    messageId,
    replies: replies.map(replyJson),
    ...(coveredBy === null ? {} : { coveredBy }),
  };
  return jsonAnswer(200, body);
}

/** The answer of a sync call without an agent's reply: it comes later and is collected from the drain. */
export function pendingSync(
  { chatId, ticketId, messageId }: CallNames,
  answer: { status: "pending" | "in_review"; timedOut: boolean; replies: StoredReply[] },
): KeptAnswer {
  const drainUrl = drainUrlOf(chatId);
  const { status, timedOut } = answer;
  const replies = answer.replies.map(replyJson);
  const names = { chatId, ticketId, messageId };
  const body: PendingAnswer = { ok: true, mode: "sync", status, timedOut, ...names, replies, drainUrl };
  return jsonAnswer(202, body, { Location: drainUrl });
}

const sync: Mode = {
  holdsCall: true,
  async respond(context, call, response) {
    const { store, persister } = context;
    let isGone = false;
    let isFlushed = false;
    // Replies that no answer carries stay for the drain, also when the call ends in an error.
    let carried: StoredReply[] = [];
    let sent: KeptAnswer | null = null;
    let isEnded = false;
    let delivery: Span | null = null;
    const send = (answer: KeptAnswer) => {
      sent = answer;
      if (carried.length > 0) {
        const attributes = { "svc.way": "call", "svc.replies": carried.length };
        delivery = startSpan("deliver reply", { parent: call.trace, attributes });
      }
      return call.writer.send(answer);
    };
    const endCall = () => {
      isEnded = true;
      return persister.persist("finishing a sync request", async () => {
        await store.replies.endCall(call.project, call.messageId);
        if (call.place.isRepeat) await store.replies.release(call.project, call.ticketId, call.place.callId);
      });
    };
    const noteEnd = async () => {
      isFlushed = await watchAnswer(response);
      isGone = !isFlushed;
      call.watch.end();
      if (delivery === null) return;
      count("svc_deliveries_total", { way: "call", outcome: isFlushed ? "delivered" : "later" });
      if (!isFlushed) delivery.fail(null);
      delivery.end();
    };
    const settleEnd = async () => {
      await gone;
      if (isFlushed && sent !== null) {
        await call.place.keep(sent, isEnded ? undefined : idsOf(carried));
        return;
      }
      if (!isEnded) await endCall();
      await call.place.release();
    };
    const gone = noteEnd();

    try {
      call.writer.begin(call);
      const waited = waitForOutcome(context, call, () => isGone);
      // A caller that hangs up is not waited for: what comes later goes to the buffer.
      await Promise.race([waited, gone]);
      const { outcome, timedOut } = await waited;
      carried = outcome?.replies ?? [];
      if (isGone) return;
      const final = outcome === null ? null : finalSync(call, outcome);
      if (final !== null) {
        await send(final);
        return;
      }
      if (outcome !== null && outcome.state !== "answered") {
        await send(pendingSync(call, { status: "in_review", timedOut: false, replies: carried }));
        return;
      }
      // Nothing in time; or the replies are in the buffer, or with a reader of it: this process counted as dead for a
      // while, or the caller was away.
      // The call ends before the answer leaves, so that a caller that drains at once misses nothing. While the store is
      // away the answer does not wait for it: nothing could be drained either.
      // Nobody waits here any more: news from now on is for the drains of all replicas.
      call.watch.end();
      await withinMs(endCall(), WRITE_WAIT_MS);
      await send(pendingSync(call, { status: "pending", timedOut, replies: [] }));
    } finally {
      call.watch.end();
      void settleEnd();
    }
  },
  settle: tellWaiting,
};

/** Responds to a call that does not wait; the response is stored before it is sent, so that a repeat finds it. */
async function sendAtOnce(call: AcceptedCall, response: Response, answer: KeptAnswer): Promise<void> {
  call.watch.end();
  await withinMs(call.place.keep(answer), WRITE_WAIT_MS);
  sendAnswer(response, answer);
}

/** The answer of an async call: its replies wait in the drain. */
export function queuedAsync({ chatId, ticketId, messageId }: CallNames): KeptAnswer {
  const drainUrl = drainUrlOf(chatId);
  const names = { chatId, ticketId, messageId };
  const body: AsyncAnswer = { ok: true, mode: "async", status: "queued", ...names, drainUrl };
  return jsonAnswer(202, body, { Location: drainUrl });
}

/** The answer of a call whose replies go to its callback. */
export function queuedWebhook({
  chatId,
  ticketId,
  messageId,
  deliveryId,
}: CallNames & Pick<AcceptedCall, "deliveryId">): KeptAnswer {
  const drainUrl = drainUrlOf(chatId);
  const names = { chatId, ticketId, messageId };
  const body: WebhookAnswer = { ok: true, mode: "webhook", status: "queued", ...names, deliveryId, drainUrl };
  return jsonAnswer(202, body, { Location: drainUrl });
}

const async_: Mode = {
  holdsCall: false,
  respond: (_context, call, response) => sendAtOnce(call, response, queuedAsync(call)),
  settle: tellWaiting,
};

const webhook: Mode = {
  holdsCall: false,
  respond: (_context, call, response) => sendAtOnce(call, response, queuedWebhook(call)),
  settle(context, news) {
    const refs = news.map(({ project, ticketId }) => ({ project: asProjectId(project), ticketId }));
    return settleCallbacks(context, refs);
  },
};

/** The modes of a message, by name (service document, section 4.2). */
export const MODES: Record<MessageMode, Mode> = { sync, async: async_, webhook };

/** Handles notifications of messages for the modes; those without a message are for other waiters. */
export async function settleNews(context: SettleContext, news: readonly ReplyAnnouncement[]): Promise<void> {
  await tellWaiting(
    context,
    news.filter(({ mode }) => mode == null),
  );
  for (const mode of messageModeSchema.options) {
    const some = news.filter((one) => one.mode === mode);
    if (some.length > 0) await MODES[mode].settle(context, some);
  }
}

/** The mode of a request (service document, section 4.2): a callback URL makes it webhook, nothing makes it sync. */
export function chooseMode(request: { mode?: MessageMode | undefined; webhookUrl?: string | undefined }): MessageMode {
  return request.webhookUrl === undefined ? (request.mode ?? "sync") : "webhook";
}
