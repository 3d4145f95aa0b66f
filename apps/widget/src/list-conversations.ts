import type { WidgetConversationsAnswer } from "@svc/contracts";
import type { RequestHandler } from "express";
import { countCall, readKey, readTickets } from "./find-visitor.ts";
import type { WidgetContext } from "./widget-context.ts";

/** `GET /api/widget/conversations`: the visitor's own conversations, newest first, without erased ones. */
export function getConversations({ store, queues, readSite }: WidgetContext): RequestHandler {
  return async (request, response) => {
    const site = await readSite();
    const key = await readKey(queues, request, site);
    await countCall(queues, "configReads", { request, response, key, site });
    const chats = await store.visitors.listChats(site.project, readTickets(request, site));
    const items = chats.map(({ place, createdAt, isUnread, author, text, markdown }) => ({
      conversation: place,
      author,
      text,
      markdown,
      at: createdAt.toISOString(),
      unread: isUnread,
    }));
    response.set("Cache-Control", "no-store").json({ ok: true, items } satisfies WidgetConversationsAnswer);
  };
}
