import type { Request, RequestHandler, Response } from "express";
import { requireScope } from "@svc/auth";
import { beginDelivery } from "@svc/channel-manager";
import { chatIdSchema, drainQuerySchema, LIMITS, ServiceError } from "@svc/contracts";
import type { DrainAnswer, DrainQuery } from "@svc/contracts";
import {
  invalidRequest,
  openEventStream,
  principalOf,
  recheckKey,
  streamError,
  traceOf,
  wantsEventStream,
} from "@svc/http";
import type { EventStream } from "@svc/http";
import { isUnavailable, newId, ticketIdOf } from "@svc/store";
import type { DrainLimits, DrainPage, ProjectId, StoredReply, UnfinishedReply } from "@svc/store";
import type { ApiContext } from "../api-context.ts";
import { readLastCursor } from "./idempotency.ts";
import { growText, replyJson, watchResponse } from "./response-writer.ts";

/** Longest duration of a stream: its reader reconnects, so that new settings and new replicas are used. */
const MAX_STREAM_MS = 600_000;
/** Interval of checking whether the key was revoked. */
const CHECK_KEY_MS = 1_000;

/** A stream of a chat: the reader, the chat and the position. */
interface ChatStream {
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
  let isFirst = true;

  function type(on: boolean): void {
    if (isTyping !== on) stream.send("typing", { on }, cursorOf());
    isTyping = on;
  }

  function showText(messageId: string, text: string): void {
    const before = shown.get(messageId);
    const delta = growText(messageId, before === undefined ? "" : before, text);
    if (delta !== null && stream.send("delta", delta, cursorOf())) shown.set(messageId, text);
  }

  /** Completes the text of a reply that is sent next. */
  function complete(reply: StoredReply): void {
    const { inReplyTo } = reply;
    if (reply.type !== "message" || inReplyTo === null || !shown.has(inReplyTo)) return;
    showText(inReplyTo, reply.text);
    shown.delete(inReplyTo);
  }

  return {
    complete,

    /**
     * Completes the first of these replies and shows the unfinished reply, if there is one; withdraws a shown text that
     * did not become one of these replies.
     */
    show(latest: UnfinishedReply | null, { replies }: DrainPage): void {
      if (isFirst && isResumed) {
        // The reader may have received some of their texts on an earlier connection.
        for (const { inReplyTo } of replies) if (inReplyTo !== null) shown.set(inReplyTo, null);
        if (latest?.isCollected === true) shown.set(latest.messageId, null);
      }
      isFirst = false;
      // The last delta of a reply is sent before `typing` ends.
      if (replies[0] !== undefined) complete(replies[0]);
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
async function streamChat(context: ApiContext, chat: ChatStream): Promise<void> {
  const { store, log, board } = context;
  const { request, response, project, ticketId, chatId, limits, durationMs = MAX_STREAM_MS } = chat;
  let cursor = chat.after;
  const watch = board.watch(ticketId, { receivesTexts: true });
  const stream = openEventStream(response);
  void stream.closed.then(() => watch.end());
  const unfinished = trackUnfinished(stream, chat.isResumed, () => String(cursor));
  const deadline = performance.now() + durationMs;
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

const DRAIN_LIMITS = { maxReplies: LIMITS.drainMaxReplies, maxBytes: LIMITS.drainMaxBytes };

/** A drain of a chat's buffer. */
interface Drain {
  project: ProjectId;
  ticketId: string;
  query: DrainQuery;
  isHead: boolean;
  /** Number of days that a reply stays in the buffer. */
  keptDays: number;
}

/** How a drain reads the buffer. */
interface BufferReader {
  read(): Promise<DrainPage>;
  /** Records whether the caller has received a page. */
  complete(page: DrainPage, isFlushed: boolean): Promise<void>;
}

/**
 * Returns the reader that the query selects: a plain GET removes the replies that it reads, the others remove
 * nothing.
 */
function openReader(context: ApiContext, { project, ticketId, query, isHead, keptDays }: Drain): BufferReader {
  const { store, persister, heartbeat } = context;
  const limits = { ...DRAIN_LIMITS, keptDays };
  const { after } = query;
  if (after !== undefined || query.peek === "1" || isHead) {
    return {
      read: () => store.replies.readBuffer(project, ticketId, after ?? 0, limits),
      complete: () => Promise.resolve(),
    };
  }
  const takeId = newId();
  const release = () => store.replies.release(project, ticketId, takeId);
  return {
    async read() {
      try {
        for (;;) {
          // If this process counts as dead, other readers can claim its replies immediately.
          await heartbeat.ensureAlive();
          const page = await store.replies.claimFromBuffer(project, ticketId, heartbeat.instance, limits, takeId);
          if (page.replies.length === 0 || heartbeat.isLeaseFresh()) return page;
          await release();
        }
      } catch (error) {
        // The store may have claimed replies although it reported an error.
        void persister.persist("releasing replies", release);
        throw error;
      }
    },
    async complete(page, isFlushed) {
      if (isFlushed) await Promise.all(page.replies.map(({ id }) => store.replies.confirm(project, id)));
      else if (page.replies.length > 0) await release();
    },
  };
}

/** Reads until there are replies, the time is over, the caller disconnects, or the process shuts down. */
async function waitForPage(context: ApiContext, { ticketId, query }: Drain, reader: BufferReader, response: Response) {
  const { wait: waitMs = 0 } = query;
  if (waitMs === 0) return reader.read();
  const deadline = performance.now() + waitMs;
  // Watches before it reads: a reply may arrive right after the read.
  const watch = context.board.watch(ticketId);
  const endWatch = () => watch.end();
  response.once("close", endWatch);
  try {
    let page = await reader.read();
    while (page.replies.length === 0 && !response.destroyed && performance.now() < deadline) {
      const reason = await watch.next(deadline - performance.now());
      if (response.destroyed) break;
      page = await reader.read();
      if (reason !== "poll") break;
    }
    return page;
  } finally {
    response.off("close", endWatch);
    watch.end();
  }
}

/**
 * Returns the error for a cursor that no response of this chat contains: it would acknowledge replies that were never
 * received.
 */
function unknownCursor(): ServiceError {
  const detail = "must be a cursor from an earlier response for this chat, or 0";
  return new ServiceError("invalid_request", `The request is not valid: /after ${detail}.`, {
    errors: [{ pointer: "/after", code: "unknown_cursor", detail }],
  });
}

/**
 * `GET /api/v1/messages/:chatId` (service document, section 4.3; with events: docs/streaming.md) and its HEAD. Scope
 * messages:read.
 */
export function drainMessages(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "messages:read");
    const chatId = chatIdSchema.safeParse(request.params["chatId"]);
    const query = drainQuerySchema.safeParse(request.query);
    if (!chatId.success || !query.success) {
      const inPath = (chatId.error?.issues ?? []).map((issue) => ({ ...issue, path: ["chatId", ...issue.path] }));
      throw invalidRequest([...inPath, ...(query.error?.issues ?? [])], "The request");
    }
    const { project } = principal;
    const ticketId = ticketIdOf(project, "api", chatId.data);
    const isHead = request.method === "HEAD";
    const isStream = !isHead && wantsEventStream(request);
    // A stream whose connection dropped resumes after its last event; its URL is still the first one.
    const resumedAfter = isStream ? readLastCursor(request) : null;
    if (isStream || (query.data.wait ?? 0) > 0) context.limitPolls(request, response);
    const after = resumedAfter ?? query.data.after;
    if (after !== undefined && after > 0 && query.data.peek !== "1" && !isHead) {
      const isKnown = await context.store.replies.acknowledge(project, ticketId, after);
      if (!isKnown) throw unknownCursor();
    }

    const { bufferDays: keptDays } = await context.readSettings();
    if (isStream) {
      const limits = { ...DRAIN_LIMITS, keptDays };
      await streamChat(context, {
        request,
        response,
        project,
        ticketId,
        chatId: chatId.data,
        after: after ?? 0,
        isResumed: resumedAfter !== null,
        durationMs: query.data.wait,
        limits,
      });
      return;
    }
    const drain = { project, ticketId, query: query.data, isHead, keptDays };
    const reader = openReader(context, drain);
    const page = await waitForPage(context, drain, reader, response);
    const delivery = beginDelivery(context.store, project, page.replies, { way: "drain", link: traceOf(response) });
    void watchResponse(response).then((isFlushed) => {
      delivery.end(isFlushed);
      return context.persister.persist("completing a drain", () => reader.complete(page, isFlushed));
    });
    if (response.destroyed) return;
    response.status(200).setHeader("Content-Type", "application/json; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    const { replies, cursor, more } = page;
    const body: DrainAnswer = {
      ok: true,
      chatId: chatId.data,
      replies: replies.map(replyJson),
      cursor: String(cursor),
      more,
    };
    response.end(JSON.stringify(body));
  };
}
