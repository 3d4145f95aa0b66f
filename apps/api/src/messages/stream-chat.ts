import { ServiceError } from "@svc/contracts";
import type { DrainAnswer } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import { beginDelivery } from "@svc/channel-manager";
import { recheckKey, openEventStream, streamError, traceOf } from "@svc/http";
import type { EventStream } from "@svc/http";
import { isUnavailable } from "@svc/store";
import type { DrainLimits, DrainPage, ProjectId, StoredReply, UnfinishedReply } from "@svc/store";
import type { Request, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import { replyJson } from "./message-responses.ts";
import { growText } from "./response-writer.ts";

/** Longest duration of a stream: its reader reconnects, so that new settings and new replicas are used. */
const MAX_STREAM_MS = 600_000;
/** Interval of checking whether the key was revoked. */
const CHECK_KEY_MS = 1_000;

/** A stream of a chat: the reader, the chat and the position. */
export interface ChatStream {
  request: Request;
  response: Response;
  project: ProjectId;
  ticketId: string;
  chatId: string;
  /** Sequence number up to which the reader has everything. */
  after: number;
  /** True for a reader whose connection dropped: what it received of unfinished replies is unknown. */
  isResumed: boolean;
  /** Maximum duration in milliseconds; default 10 minutes. */
  durationMs: number | undefined;
  limits: DrainLimits;
}

/** Tracks the unfinished replies that a reader has received, and sends the events that bring it up to date. */
function trackUnfinished(stream: EventStream, isResumed: boolean, cursorOf: () => string) {
  /** By message: the text that the reader has received of the reply; null if unknown. */
  const shown = new Map<string, string | null>();
  /** The last state of `typing` that the reader received; null if unknown. */
  let isTyping = isResumed ? null : false;

  function type(on: boolean): void {
    if (isTyping !== on) stream.send("typing", { on }, cursorOf());
    isTyping = on;
  }

  function showText(messageId: string, text: string): void {
    const before = shown.get(messageId);
    const delta = growText(messageId, before === undefined ? "" : before, text);
    if (delta !== null && stream.send("delta", delta, cursorOf())) shown.set(messageId, text);
  }

  return {
    /** Records that the reader may have received some text of the reply to a message, on an earlier connection. */
    forget(messageId: string): void {
      shown.set(messageId, null);
    },

    /** Completes the text of a reply that is sent next. */
    complete(reply: StoredReply): void {
      const { inReplyTo } = reply;
      if (reply.type !== "message" || inReplyTo === null || !shown.has(inReplyTo)) return;
      showText(inReplyTo, reply.text);
      shown.delete(inReplyTo);
    },

    /**
     * Shows the unfinished reply, if there is one; withdraws a shown text that did not become one of these replies.
     */
    show(latest: UnfinishedReply | null, { replies }: DrainPage): void {
      const isAnswered = (messageId: string) => replies.some(({ inReplyTo }) => inReplyTo === messageId);
      const isShown = latest?.isCollected === true && !isAnswered(latest.messageId);
      const current = isShown ? latest : null;
      for (const [messageId, text] of shown) {
        const isOver = messageId !== current?.messageId && !isAnswered(messageId);
        if (isOver && text !== "") showText(messageId, "");
      }
      type(current !== null);
      if (current?.text != null) showText(current.messageId, current.text);
    },
  };
}

/**
 * Responds with the replies of a chat as they arrive, each with its cursor as id, and with the text of unfinished
 * replies (docs/streaming.md). It does not acknowledge replies: a reader does that by reconnecting with the id of its
 * last event, as with `after`. Ends with `done` after its maximum duration or during shutdown, and with `error` when
 * the key is revoked. Waits while the store is unavailable.
 */
// oxlint-disable-next-line max-lines-per-function -- One stream whose steps share its state.
export async function streamChat(context: ApiContext, chat: ChatStream): Promise<void> {
  const { store, log, board } = context;
  const { request, response, project, ticketId, chatId, limits, durationMs = MAX_STREAM_MS } = chat;
  let cursor = chat.after;
  const watch = board.watch(ticketId, { receivesTexts: true });
  const stream = openEventStream(response);
  void stream.closed.then(() => watch.end());
  const unfinished = trackUnfinished(stream, chat.isResumed, () => String(cursor));
  const deadline = performance.now() + durationMs;
  let isFirstRead = true;
  let checkKeyAt = performance.now() + CHECK_KEY_MS;

  /** Throws if the reader may no longer read the chat. */
  async function checkKey(): Promise<void> {
    if (performance.now() < checkKeyAt) return;
    checkKeyAt = performance.now() + CHECK_KEY_MS;
    requireScope(await recheckKey(response), "messages:read");
  }

  /** Sends new replies; true if there may be more already. */
  async function sendNew(): Promise<boolean> {
    // Unfinished replies first: a reply that is completed between the two reads is in the second one.
    const latest = await store.unfinishedReplies.find(project, ticketId);
    const page = await store.replies.readBuffer(project, ticketId, cursor, limits);
    if (isFirstRead && chat.isResumed) {
      for (const { inReplyTo } of page.replies) if (inReplyTo !== null) unfinished.forget(inReplyTo);
      if (latest?.isCollected === true) unfinished.forget(latest.messageId);
    }
    isFirstRead = false;
    // The last delta of a reply is sent before `typing` ends.
    if (page.replies[0] !== undefined) unfinished.complete(page.replies[0]);
    unfinished.show(latest, page);
    for (const reply of page.replies) {
      unfinished.complete(reply);
      if (!stream.send("reply", replyJson(reply), String(reply.seq))) return false;
      beginDelivery(store, project, [reply], { way: "stream", link: traceOf(response) }).end(true);
      cursor = reply.seq;
      // Waits for a slow reader.
      await stream.drained();
    }
    return page.more;
  }

  async function sendIfAvailable(): Promise<boolean> {
    try {
      await checkKey();
      return await sendNew();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return false;
    }
  }

  try {
    let isOver = false;
    let hasMore = false;
    while (stream.isOpen()) {
      hasMore = await sendIfAvailable();
      if (isOver || !stream.isOpen()) break;
      if (hasMore) continue;
      const reason = await watch.next(deadline - performance.now());
      // Replies that arrived in the last moment are still sent.
      isOver = reason !== "poll" || performance.now() >= deadline;
    }
    const end: DrainAnswer = { ok: true, chatId, replies: [], cursor: String(cursor), more: hasMore };
    stream.send("done", end, String(cursor));
  } catch (error) {
    if (!(error instanceof ServiceError)) log.error({ error, ticketId }, "reply stream failed");
    stream.send("error", streamError(request, response, error), String(cursor));
  } finally {
    watch.end();
    stream.end();
  }
}
