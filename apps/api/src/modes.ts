import { withinMs } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { MessageMode } from "@svc/contracts";
import { isUnavailable } from "@svc/store";
import type { CallOutcome, ProjectId, StoredReply } from "@svc/store";
import type { Response } from "express";
import type { ApiContext } from "./api-context.ts";
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
}

/** How long a timed-out call waits for its end to be written. */
const END_CALL_WAIT_MS = 1_000;

/** How a mode answers the POST. */
interface Mode {
  /** True when the sender keeps its call open for the reply. */
  holdsCall: boolean;
  respond(context: ApiContext, call: AcceptedCall, response: Response): Promise<void>;
}

function sendJson(response: Response, status: number, body: object): void {
  response.status(status).setHeader("Content-Type", "application/json; charset=utf-8");
  response.end(JSON.stringify(body));
}

/**
 * What the call found, or null while the store is away or others may count this process as dead: the message is
 * accepted, so the call goes on waiting.
 */
async function look({ store, presence }: ApiContext, call: AcceptedCall): Promise<CallOutcome | null> {
  try {
    const outcome = await store.replies.readForCall(call.project, call.messageId);
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
  }
}

/** The answer of a sync call without an agent's reply: it comes later and is collected from the drain. */
function sendPending(
  response: Response,
  call: AcceptedCall,
  answer: { status: "pending" | "in_review"; timedOut: boolean; replies: StoredReply[] },
): void {
  const drainUrl = drainUrlOf(call.chatId);
  response.setHeader("Location", drainUrl);
  sendJson(response, 202, {
    ok: true,
    mode: "sync",
    status: answer.status,
    timedOut: answer.timedOut,
    chatId: call.chatId,
    ticketId: call.ticketId,
    replies: answer.replies.map(replyJson),
    drainUrl,
  });
}

const sync: Mode = {
  holdsCall: true,
  async respond(context, call, response) {
    const { store, persister } = context;
    let isGone = false;
    let isFlushed = false;
    // Replies that no answer carries stay for the drain, also when the call ends in an error.
    let carried: StoredReply[] = [];
    let isEnded = false;
    const endCall = () => {
      isEnded = true;
      return persister.persist("ending a sync call", () => store.replies.endCall(call.project, call.messageId));
    };
    const endAnsweredCall = () => {
      const ids = carried.map((reply) => reply.id);
      return persister.persist("ending a sync call", () =>
        store.replies.endAnsweredCall(call.project, call.messageId, ids),
      );
    };
    const noteEnd = async () => {
      isFlushed = await watchAnswer(response);
      isGone = !isFlushed;
      call.watch.end();
    };
    const gone = noteEnd();

    try {
      const waited = waitForOutcome(context, call, () => isGone);
      // A caller that hangs up is not waited for: what comes later goes to the buffer.
      await Promise.race([waited, gone]);
      if (isGone) {
        await waited;
        return;
      }
      const { outcome, timedOut } = await waited;
      if (outcome?.state === "answered" && outcome.replies.length > 0) {
        carried = outcome.replies;
        const replies = carried.map(replyJson);
        sendJson(response, 200, { ok: true, mode: "sync", chatId: call.chatId, ticketId: call.ticketId, replies });
        return;
      }
      if (outcome !== null && outcome.state !== "answered") {
        carried = outcome.replies;
        sendPending(response, call, { status: "in_review", timedOut: false, replies: outcome.replies });
        return;
      }
      // Nothing in time; or this process counted as dead for a while, and the replies went to the buffer.
      // The call ends before the answer leaves, so that a caller that drains at once misses nothing. While the store is
      // away the answer does not wait for it: nothing could be drained either.
      await withinMs(endCall(), END_CALL_WAIT_MS);
      sendPending(response, call, { status: "pending", timedOut, replies: [] });
    } finally {
      call.watch.end();
      void gone.then(() => {
        if (isEnded) return undefined;
        return isFlushed ? endAnsweredCall() : endCall();
      });
    }
  },
};

const async_: Mode = {
  holdsCall: false,
  respond(_context, call, response) {
    call.watch.end();
    const drainUrl = drainUrlOf(call.chatId);
    response.setHeader("Location", drainUrl);
    sendJson(response, 202, {
      ok: true,
      mode: "async",
      status: "queued",
      chatId: call.chatId,
      ticketId: call.ticketId,
      drainUrl,
    });
    return Promise.resolve();
  },
};

/** The modes of a message, by name. A callback is not possible in this version, and is refused before acceptance. */
export const MODES: Record<Exclude<MessageMode, "webhook">, Mode> = { sync, async: async_ };

/** The mode of a request (service document, section 4.2): a callback URL makes it webhook, nothing makes it sync. */
export function chooseMode(request: {
  mode?: MessageMode | undefined;
  webhookUrl?: string | undefined;
}): keyof typeof MODES {
  const mode = request.webhookUrl === undefined ? (request.mode ?? "sync") : "webhook";
  if (mode !== "webhook") return mode;
  throw new ServiceError("invalid_request", "Callbacks are not available yet. Use mode sync or async.", {
    errors: [
      {
        pointer: request.webhookUrl === undefined ? "/mode" : "/webhookUrl",
        code: "not_available",
        detail: "use mode sync or async",
      },
    ],
  });
}
