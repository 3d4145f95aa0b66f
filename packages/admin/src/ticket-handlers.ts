import type { TicketChange, TicketListInput, ticketEndpoints } from "@svc/contracts";
import { ENDPOINTS } from "@svc/contracts";
import { countTickets, getTicket, getTicketFile, listTickets, updateTicket } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** What the list is asked besides what every list is asked. */
const FILTERS = Object.keys(ENDPOINTS.listTickets.query.shape).filter(
  (name) => !["limit", "cursor", "q"].includes(name),
);

/** Tickets: their list and search, and one by one. */
export const ticketHandlers: AdminHandlers<typeof ticketEndpoints> = {
  async listTickets(context, { principal, listQuery, query }) {
    const filters = Object.fromEntries(FILTERS.map((name) => [name, query(name)]));
    const input = { ...filters, ...listQuery() } as TicketListInput;
    return { list: await listTickets(context, principal, input) };
  },
  async countTickets(context, { principal, query }) {
    const filters = Object.fromEntries(["q", ...FILTERS].map((name) => [name, query(name)]));
    return { item: await countTickets(context, principal, filters) };
  },
  async getTicket(context, { principal, param }) {
    const item = await getTicket(context, principal, param());
    return { item, version: item.version };
  },
  async getTicketFile(context, { principal, param, response }) {
    const { filename, content } = await getTicketFile(context, principal, param(), param("fileId"));
    // Its name has passed the widget's; its bytes are a stranger's, and must not be shown or run by any browser.
    response.attachment(filename).set({
      "Content-Type": "application/octet-stream",
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "Cache-Control": "private, no-store",
    });
    response.status(200).end(content);
    return "answered";
  },
  async updateTicket(context, { principal, param, body, ifMatch }) {
    const item = await updateTicket(context, principal, param(), (await body()) as TicketChange, ifMatch());
    return { item, version: item.version };
  },
};
