import type { Principal } from "@svc/auth";
import type { TicketItem, reviewEndpoints } from "@svc/contracts";
import { reviewTicket } from "@svc/operations";
import type { ExpectedVersions, ReviewDeps } from "@svc/operations";
import type { AdminHandler, AdminHandlers } from "./admin-handler.ts";

/** Decides about the ticket that the path names, by what the body says. */
function handlerOf(
  operation: (
    deps: ReviewDeps,
    principal: Principal,
    ticketId: string,
    input: never,
    versions: ExpectedVersions,
  ) => Promise<TicketItem>,
): AdminHandler {
  return async (context, { principal, param, body, ifMatch }) => {
    const versions = ifMatch();
    // The operation checks what it is.
    const item = await operation(context, principal, param(), (await body()) as never, versions);
    return { item, version: item.version };
  };
}

/** What operators decide about tickets. */
export const reviewHandlers: AdminHandlers<typeof reviewEndpoints> = {
  approveDraft: handlerOf(reviewTicket.approve),
  editDraft: handlerOf(reviewTicket.edit),
  rejectDraft: handlerOf(reviewTicket.reject),
  regenerateDraft: handlerOf(reviewTicket.regenerate),
  takeOverTicket: handlerOf(reviewTicket.takeover),
  assignTicket: handlerOf(reviewTicket.assign),
  unassignTicket: handlerOf(reviewTicket.unassign),
  addNote: handlerOf(reviewTicket.note),
  replyToTicket: handlerOf(reviewTicket.reply),
  rerouteTicket: handlerOf(reviewTicket.reroute),
  resolveTicket: handlerOf(reviewTicket.resolve),
  reopenTicket: handlerOf(reviewTicket.reopen),
  retryTicket: handlerOf(reviewTicket.retry),
};
