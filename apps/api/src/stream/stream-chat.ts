import { ServiceError } from "@svc/contracts";
import type { DrainAnswer } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import { beginDelivery } from "@svc/channel-manager";
import { checkKeyAgain, openEventStream, streamFault, traceOf } from "@svc/http";
import type { EventStream } from "@svc/http";
import { isUnavailable } from "@svc/store";
import type { DrainLimits, DrainPage, ProjectId, StoredReply, UnfinishedReply } from "@svc/store";
import type { Request, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import { replyJson } from "../reply-json.ts";
import { growText } from "./grow-text.ts";

/** A stream that lasts longer ends, and its reader comes again: so that new settings and new replicas are used. */
const MAX_STREAM_MS = 600_000;
/** A key that was revoked is noticed within this time. */
const CHECK_KEY_MS = 1_000;

/** Which chat is streamed, to whom, and from where on. */
export interface ChatStream {
  request: Request;
  response: Response;
  project: ProjectId;
  ticketId: string;
  chatId: string;
  /** The place up to which the reader has everything. */
  after: number;
  /** True for a reader whose connection was cut, and who was shown nobody knows what of unfinished replies. */
  isResumed: boolean;
  /** How long it lasts at most, in milliseconds; 10 minutes where absent. */
  lastsMs: number | undefined;
  limits: DrainLimits;
}

/** What a reader of a chat has been shown of unfinished replies, and the events that bring it up to date. */
function createShow(stream: EventStream, isResumed: boolean, cursorOf: () => string) {
  /** By message: what the reader has been shown of the reply; null where that is not known. */
  const shown = new Map<string, string | null>();
  /** What the reader was told last; null where that is not known. */
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
    /** The reader may have been shown something of the reply to a message, by an earlier connection. */
    forget(messageId: string): void {
      shown.set(messageId, null);
    },

    /** A reply is there and goes out next: what was shown of it in pieces says what it says. */
    settle(reply: StoredReply): void {
      const { inReplyTo } = reply;
      if (reply.type !== "message" || inReplyTo === null || !shown.has(inReplyTo)) return;
      showText(inReplyTo, reply.text);
      shown.delete(inReplyTo);
    },

    /** What is being made now, if anything; a text that came to nothing, and to none of these replies, is withdrawn. */
    show(unfinished: UnfinishedReply | null, { replies }: DrainPage): void {
      const isAnswered = (messageId: string) => replies.some(({ inReplyTo }) => inReplyTo === messageId);
      const isShown = unfinished?.isCollected === true && !isAnswered(unfinished.messageId);
      const current = isShown ? unfinished : null;
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
 * Answers with the replies of a chat as they come, each with its cursor as id, and with what is being made meanwhile
 * (docs/streaming.md). Nothing is taken or acknowledged: whoever comes again with the id of its last event does so, as
 * with `after`. Ends with `done` when its time is over or the process stops; when the key is not good any more, with
 * `error`. While the store is away it waits.
 */
export async function streamChat(context: ApiContext, chat: ChatStream): Promise<void> {
  const { store, log, board } = context;
  const { request, response, project, ticketId, chatId, limits, lastsMs = MAX_STREAM_MS } = chat;
  let cursor = chat.after;
  const watch = board.watch(ticketId, { hearsTexts: true });
  const stream = openEventStream(response);
  void stream.closed.then(() => watch.end());
  const shown = createShow(stream, chat.isResumed, () => String(cursor));
  const deadline = performance.now() + lastsMs;
  let isFirstLook = true;
  let checkKeyAt = performance.now() + CHECK_KEY_MS;

  /** Throws when the reader may not read on. */
  async function checkKey(): Promise<void> {
    if (performance.now() < checkKeyAt) return;
    checkKeyAt = performance.now() + CHECK_KEY_MS;
    requireScope(await checkKeyAgain(response), "messages:read");
  }

  /** Sends what there is; true when there may be more at once. */
  async function look(): Promise<boolean> {
    // First what is unfinished: a reply that is made between the two reads is in the second one.
    const unfinished = await store.unfinishedReplies.find(project, ticketId);
    const page = await store.replies.readBuffer(project, ticketId, cursor, limits);
    if (isFirstLook && chat.isResumed) {
      for (const { inReplyTo } of page.replies) if (inReplyTo !== null) shown.forget(inReplyTo);
      if (unfinished?.isCollected === true) shown.forget(unfinished.messageId);
    }
    isFirstLook = false;
    // The last piece of a reply goes before the word that nothing is being made any more.
    if (page.replies[0] !== undefined) shown.settle(page.replies[0]);
    shown.show(unfinished, page);
    for (const reply of page.replies) {
      shown.settle(reply);
      if (!stream.send("reply", replyJson(reply), String(reply.seq))) return false;
      beginDelivery(store, project, [reply], { way: "stream", link: traceOf(response) }).end(true);
      cursor = reply.seq;
      // Whoever reads slowly is waited for.
      await stream.drained();
    }
    return page.more;
  }

  async function lookOrWait(): Promise<boolean> {
    try {
      await checkKey();
      return await look();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return false;
    }
  }

  try {
    let isOver = false;
    let hasMore = false;
    while (stream.isOpen()) {
      hasMore = await lookOrWait();
      if (isOver || !stream.isOpen()) break;
      if (hasMore) continue;
      const news = await watch.next(deadline - performance.now());
      // What came in the last moment is still sent.
      isOver = news !== "look" || performance.now() >= deadline;
    }
    const end: DrainAnswer = { ok: true, chatId, replies: [], cursor: String(cursor), more: hasMore };
    stream.send("done", end, String(cursor));
  } catch (error) {
    if (!(error instanceof ServiceError)) log.error({ error, ticketId }, "reply stream failed");
    stream.send("error", streamFault(request, response, error), String(cursor));
  } finally {
    watch.end();
    stream.end();
  }
}
