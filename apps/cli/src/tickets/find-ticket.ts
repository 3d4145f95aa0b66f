import type { Principal } from "@svc/auth";
import type { TicketDetail } from "@svc/contracts";
import { getTicket, listTickets } from "@svc/operations";
import { isUuid } from "@svc/primitives";
import type { Store } from "@svc/store";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";

const NAME_CHARS = 80;
/** Chats of one id on different channels that are looked for. */
const SAME_CHATS = 10;

/** The id of the ticket that is meant: by its own id, or by that of its chat. Throws CliError `not_found`. */
export async function findTicketId(store: Store, principal: Principal, named: string): Promise<string> {
  if (isUuid(named)) return named;
  const { items } = await listTickets({ store }, principal, { chatId: named, limit: SAME_CHATS });
  const [found, ...others] = items;
  if (found !== undefined && others.length === 0) return found.id;
  const name = `"${safeLine(named, NAME_CHARS)}"`;
  throw found === undefined
    ? new CliError("not_found", EXIT.failed, `No ticket or chat ${name} exists. See: svc tickets list`)
    : new CliError(
        "ambiguous",
        EXIT.failed,
        `Several channels have a chat ${name}. Specify a ticket: ${items.map(({ id }) => id).join(", ")}`,
      );
}

/** The ticket that is meant, with what was said and done. Throws CliError and ServiceError `not_found`. */
export async function findTicket(store: Store, principal: Principal, named: string): Promise<TicketDetail> {
  return getTicket({ store }, principal, await findTicketId(store, principal, named));
}
