import { LIMITS, ServiceError, chatIdSchema, drainQuerySchema } from "@svc/contracts";
import type { DrainAnswer, DrainQuery } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import { invalidRequest, principalOf, traceOf, wantsEventStream } from "@svc/http";
import { newId, ticketIdOf } from "@svc/store";
import type { DrainPage, ProjectId } from "@svc/store";
import type { RequestHandler, Response } from "express";
import { beginDelivery } from "@svc/channel-manager";
import type { ApiContext } from "./api-context.ts";
import { replyJson } from "./reply-json.ts";
import { readLastCursor } from "./stream/last-event-id.ts";
import { streamChat } from "./stream/stream-chat.ts";
import { watchAnswer } from "./watch-answer.ts";

const DRAIN_LIMITS = { maxReplies: LIMITS.drainMaxReplies, maxBytes: LIMITS.drainMaxBytes };

/** What all looks of one call have in common. */
interface LookRequest {
  project: ProjectId;
  ticketId: string;
  query: DrainQuery;
  isHead: boolean;
  /** For how many days a reply stays in the buffer. */
  keptDays: number;
}

/** One look into the buffer, in the way that the query asks for. */
interface Look {
  read(): Promise<DrainPage>;
  /** What has to happen with a page once it is known whether the caller has it. */
  settle(page: DrainPage, isFlushed: boolean): Promise<void>;
}

function chooseLook(context: ApiContext, { project, ticketId, query, isHead, keptDays }: LookRequest): Look {
  const { store, persister, presence } = context;
  const limits = { ...DRAIN_LIMITS, keptDays };
  const { instance } = presence;
  const { after } = query;
  if (after !== undefined || query.peek === "1" || isHead) {
    return {
      read: () => store.replies.readBuffer(project, ticketId, after ?? 0, limits),
      settle: () => Promise.resolve(),
    };
  }
  const takeId = newId();
  const giveBack = () => store.replies.release(project, ticketId, takeId);
  return {
    async read() {
      try {
        for (;;) {
          // What a process takes that counts as dead is free for others at once.
          await presence.makeSure();
          const page = await store.replies.takeFromBuffer(project, ticketId, instance, limits, takeId);
          if (page.replies.length === 0 || presence.isSure()) return page;
          await giveBack();
        }
      } catch (error) {
        // The store may have carried it out all the same, and nobody would know what was taken.
        void persister.persist("releasing replies", giveBack);
        throw error;
      }
    },
    async settle(page, isFlushed) {
      if (isFlushed) await Promise.all(page.replies.map(({ id }) => store.replies.confirm(project, id)));
      else if (page.replies.length > 0) await giveBack();
    },
  };
}

/** Looks until there is something, the time is over, the caller hangs up, or the process stops. */
async function waitForPage(context: ApiContext, ticketId: string, look: Look, waitMs: number, response: Response) {
  let page = await look.read();
  if (page.replies.length > 0 || waitMs === 0) return page;
  const deadline = performance.now() + waitMs;
  const watch = context.board.watch(ticketId);
  const endWatch = () => context.board.wake(ticketId);
  response.once("close", endWatch);
  try {
    // A reply may have come between the first look and the watch.
    page = await look.read();
    while (page.replies.length === 0 && !response.destroyed && performance.now() < deadline) {
      const news = await watch.next(deadline - performance.now());
      if (response.destroyed) break;
      page = await look.read();
      if (news !== "look") break;
    }
    return page;
  } finally {
    response.off("close", endWatch);
    watch.end();
  }
}

/** A cursor that no answer of this chat has given: taking it for true would acknowledge what nobody has seen. */
function beyondEnd(): ServiceError {
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
    // A stream that was cut goes on after its last event; the address is still the one it began with.
    const resumedAfter = isStream ? readLastCursor(request) : null;
    if (isStream || (query.data.wait ?? 0) > 0) context.limitPolls(request, response);
    const after = resumedAfter ?? query.data.after;
    if (after !== undefined && after > 0 && query.data.peek !== "1" && !isHead) {
      const isKnown = await context.store.replies.acknowledge(project, ticketId, after);
      if (!isKnown) throw beyondEnd();
    }

    const { bufferDays: keptDays } = await context.readSettings();
    if (isStream) {
      const limits = { ...DRAIN_LIMITS, keptDays };
      const lastsMs = query.data.wait;
      await streamChat(context, {
        request,
        response,
        project,
        ticketId,
        chatId: chatId.data,
        after: after ?? 0,
        isResumed: resumedAfter !== null,
        lastsMs,
        limits,
      });
      return;
    }
    const look = chooseLook(context, { project, ticketId, query: query.data, isHead, keptDays });
    const page = await waitForPage(context, ticketId, look, query.data.wait ?? 0, response);
    const showing = beginDelivery(context.store, project, page.replies, { way: "drain", link: traceOf(response) });
    const settle = (isFlushed: boolean) => {
      showing.end(isFlushed);
      return context.persister.persist("completing a drain", () => look.settle(page, isFlushed));
    };
    void watchAnswer(response).then(settle);
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
