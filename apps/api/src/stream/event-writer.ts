import type { AcceptedEvent, PendingAnswer, SyncAnswer } from "@svc/contracts";
import { openEventStream, streamFault } from "@svc/http";
import type { EventStream } from "@svc/http";
import { isUnavailable } from "@svc/store";
import type { KeptAnswer } from "@svc/store";
import type { Request, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import type { CallNames, CallWriter } from "../call-writer.ts";
import { sendAnswer } from "../idempotency.ts";
import { drainUrlOf } from "../reply-json.ts";
import { growText, textOf } from "./grow-text.ts";

/** What a sync call was answered; null for errors and for other modes, which are no streams. */
function syncBodyOf({ status, body }: KeptAnswer): SyncAnswer | PendingAnswer | null {
  if (status >= 300) return null;
  // Written by finalSync, pendingSync or another mode's respond.
  const parsed = JSON.parse(body) as SyncAnswer | PendingAnswer | { mode: "async" | "webhook" };
  return parsed.mode === "sync" ? parsed : null;
}

/**
 * Answers a sync call with events (docs/streaming.md): `accepted` and `typing` at once, `delta` while the answer is being
 * made, and in the end each `reply`, and `done` with the body that the answer would have been. Each event has an id that
 * names the message, by which a caller that was cut off goes on: `isResumed`. Other modes are answered with JSON.
 */
export function eventWriter(
  { store, log }: ApiContext,
  request: Request,
  response: Response,
  isResumed: boolean,
): CallWriter {
  let stream: EventStream | null = null;
  let messageId = "";
  let events = 0;
  /** What the caller was shown of the reply; null where that is not known, since an earlier connection was cut. */
  let shown: string | null = isResumed ? null : "";
  let hasDeltas = isResumed;

  const emit = (event: string, data: unknown) => stream?.send(event, data, `${messageId}.${++events}`) === true;

  function showText(text: string): void {
    const delta = growText(messageId, shown, text);
    if (delta === null || !emit("delta", delta)) return;
    shown = text;
    hasDeltas = true;
  }

  function begin(names: CallNames): EventStream {
    if (stream !== null) return stream;
    const { chatId, ticketId } = names;
    messageId = names.messageId;
    stream = openEventStream(response);
    const drainUrl = drainUrlOf(chatId);
    emit("accepted", { ok: true, mode: "sync", chatId, ticketId, messageId, drainUrl } satisfies AcceptedEvent);
    emit("typing", { on: true });
    return stream;
  }

  return {
    showsTexts: true,
    begin,

    async show({ project, ticketId }) {
      // Whoever reads slowly gets more at once.
      if (stream === null || stream.isBehind()) return;
      try {
        const found = await store.unfinishedReplies.find(project, ticketId);
        if (found?.messageId === messageId && found.text !== null) showText(found.text);
      } catch (error) {
        if (!isUnavailable(error)) log.warn({ error, messageId }, "failed to send a partial reply");
      }
    },

    async send(answer) {
      const body = syncBodyOf(answer);
      if (body === null) {
        sendAnswer(response, answer);
        return;
      }
      const open = begin(body);
      // A reply that was shown is what is stored in the end, also where it is another one. Of one that is still being made
      // the rest comes by the drain. A reader that is slow is waited for before the next event.
      if (hasDeltas && body.status !== "pending") showText(textOf(body.replies));
      await open.drained();
      emit("typing", { on: false });
      for (const reply of body.replies) {
        await open.drained();
        emit("reply", reply);
      }
      await open.drained();
      if (emit("done", body)) open.end();
      // A stream that ended on the way is cut off, so that nothing counts as handed over by it.
      else response.destroy();
    },

    fail(error) {
      if (stream === null) return false;
      emit("error", streamFault(request, response, error));
      stream.end();
      return true;
    },
  };
}
