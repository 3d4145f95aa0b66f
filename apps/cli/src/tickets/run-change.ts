import type { TicketChange, TicketPriority } from "@svc/contracts";
import { updateTicket } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findTicket } from "./find-ticket.ts";

/** What `tickets change` is told. */
export interface ChangeOptions {
  project: string;
  subject?: string;
  priority?: TicketPriority;
  /** All tags that it is to have; false for none. */
  tag?: string[] | false;
}

/** `svc tickets change`: changes what the options name of a ticket, and nothing else. */
export async function runChange(cli: Cli, named: string, options: ChangeOptions): Promise<void> {
  const { project, subject, priority, tag } = options;
  const change: TicketChange = {
    ...(subject === undefined ? {} : { subject }),
    ...(priority === undefined ? {} : { priority }),
    ...(tag === undefined ? {} : { tags: tag === false ? [] : tag }),
  };
  if (Object.keys(change).length === 0) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Specify what to update, for example --priority. See: svc tickets update --help",
    );
  }
  const item = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const ticket = await findTicket(store, principal, named);
    return updateTicket({ store }, principal, ticket.id, change, [ticket.version]);
  });
  cli.terminal.show({ ok: true, project, item }, () => "Changed.");
}
