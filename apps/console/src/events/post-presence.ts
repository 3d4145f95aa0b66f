import { requireScope } from "@svc/auth";
import { LIMITS, ServiceError, checkInput, presenceSchema } from "@svc/contracts";
import { principalOf, readJsonBody } from "@svc/http";
import type { RequestHandler } from "express";
import type { ConsoleContext } from "../console-context.ts";
import { sessionOf } from "../session/signed-in.ts";

/**
 * `POST /presence`: which ticket a tab shows, and whether its operator is writing. To be repeated every 20 seconds; who
 * says nothing for 45 is gone. Throws not_found for a ticket that the project does not have.
 */
export function postPresence({ store, hub }: Pick<ConsoleContext, "store" | "hub">): RequestHandler {
  return async (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "tickets:read");
    const { id: sessionId, operatorId } = sessionOf(response);
    const input = checkInput(presenceSchema, await readJsonBody(request, LIMITS.bodyMaxBytes), "The presence");
    const { ticketId, isTyping, tab } = input;
    const place = { sessionId, tab };
    if (ticketId === null) {
      const before = await store.operatorPresence.remove(place);
      if (before !== null) hub.notePresence([before]);
    } else {
      // One that is accepted and not opened yet has nobody to look at it.
      const ticket = await store.ticketDetails.find(principal.project, ticketId);
      if (ticket === null) throw new ServiceError("not_found", "No ticket with this ID exists in this project.");
      const before = await store.operatorPresence.put(principal.project, place, { operatorId, ticketId, isTyping });
      hub.notePresence(before === null ? [ticketId] : [before, ticketId]);
    }
    response.status(204).set("Cache-Control", "no-store").end();
  };
}
