import { LIMITS, ServiceError, chatIdSchema, drainQuerySchema } from "@svc/contracts";
import type { DrainAnswer, DrainQuery } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import { invalidRequest, principalOf, traceOf, wantsEventStream } from "@svc/http";
import { newId, ticketIdOf } from "@svc/store";
import type { DrainPage, ProjectId } from "@svc/store";
import type { RequestHandler, Response } from "express";
import { beginDelivery } from "@svc/channel-manager";
import type { ApiContext } from "../api-context.ts";
import { readLastCursor } from "./last-event-id.ts";
import { replyJson, watchResponse } from "./message-responses.ts";
import { streamChat } from "./stream-chat.ts";

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
