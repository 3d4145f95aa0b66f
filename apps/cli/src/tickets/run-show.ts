import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { findTicket } from "./find-ticket.ts";
import { renderTicket } from "./render-ticket.ts";

/** `svc tickets show`: one ticket with what was said and done, and the draft that waits. */
export async function runShow(cli: Cli, named: string, { project }: { project: string }): Promise<void> {
  const item = await withResources(cli, {}, async ({ store }) =>
    findTicket(store, await localPrincipal(store, project), named),
  );
  cli.terminal.show({ ok: true, project, item }, () => renderTicket(item, cli.terminal.paint));
}
