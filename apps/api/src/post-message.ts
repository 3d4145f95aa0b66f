import { LIMITS, messageRequestSchema } from "@svc/contracts";
import type { MessageRequest } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import { invalidRequest, principalOf, readJsonBody } from "@svc/http";
import { newId, ticketIdOf } from "@svc/store";
import type { RequestHandler } from "express";
import type { ApiContext } from "./api-context.ts";
import { MODES, chooseMode } from "./modes.ts";

/** The `meta` that is stored: the request's own, with the user's id beside it (service document, section 2.1). */
function metaOf({ meta, userId }: MessageRequest): Record<string, unknown> {
  return { ...meta, ...(userId === undefined ? {} : { userId }) };
}

/** `POST /api/v1/messages` (service document, section 4.2). Scope messages:write. */
export function postMessage(context: ApiContext, readTimeoutMs: () => Promise<number>): RequestHandler {
  return async (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "messages:write");
    const parsed = messageRequestSchema.safeParse(await readJsonBody(request, LIMITS.bodyMaxBytes));
    if (!parsed.success) throw invalidRequest(parsed.error.issues, "The message");
    const body = parsed.data;
    const modeName = chooseMode(body);
    const mode = MODES[modeName];
    const chatId = body.chatId ?? newId();
    const timeoutMs = body.timeoutMs ?? (await readTimeoutMs());
    // Watched before it is accepted: the reply may be there before the acceptance returns.
    const ticketId = ticketIdOf(principal.project, "api", chatId);
    const watch = context.board.watch(ticketId);
    const messageId = newId();
    try {
      const received = context.channel.receive(
        {
          channelId: "api",
          chatId,
          ...(body.userId === undefined ? {} : { userId: body.userId }),
          text: body.text,
          timestamp: Date.now(),
          channelMeta: metaOf(body),
        },
        {
          project: principal.project,
          messageId,
          mode: modeName,
          ...(mode.holdsCall ? { callInstance: context.presence.instance } : {}),
        },
      );
      // When the store breaks off in this moment, the message may be in: then no call waits for it, and its reply goes
      // to the buffer.
      received.catch(() => {
        if (!mode.holdsCall) return;
        void context.persister.persist("ending a call that was refused", () =>
          context.store.replies.endCall(principal.project, messageId),
        );
      });
      await received;
      watch.waitFor(messageId);
      const call = { project: principal.project, chatId, messageId, ticketId, timeoutMs, watch };
      await mode.respond(context, call, response);
    } finally {
      watch.end();
    }
  };
}
