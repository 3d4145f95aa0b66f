import { ServiceError, checkInput, ticketHistoryInputSchema } from "@svc/contracts";
import type { TicketHistory } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { operation } from "./operation.ts";
import { asEvent, asMessage, asReply } from "./tickets.ts";

/**
 * What was said in a ticket of the principal's project and done to it before the places that the input names. Scope
 * tickets:read. Throws not_found, also while the ticket is not opened yet, and invalid_request.
 */
export const getTicketHistory = operation(
  "getTicketHistory",
  async ({ store }, principal, id, input): Promise<TicketHistory> => {
    const {
      messagesBefore: messages = null,
      repliesBefore: replies = null,
      eventsBefore: events = null,
    } = checkInput(ticketHistoryInputSchema, input, "The query");
    const before = { messages, replies, events };
    const found = isUuid(id) ? await store.ticketDetails.readOlder(principal.project, id, before) : null;
    if (found === null) throw new ServiceError("not_found", "No ticket with this ID exists in this project.");
    return {
      messages: found.messages.map(asMessage),
      replies: found.replies.map(asReply),
      events: found.events.map((event) => asEvent(event, principal)),
      more: found.more,
    };
  },
);
