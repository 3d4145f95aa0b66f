import { move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";

/**
 * Opens the ticket of the conversation, or adds the message to it, unless the claim has done so. A ticket that was
 * moved to another project uses the agents and settings of that project. Idempotent: a retry finds the open ticket.
 */
export async function openTicket({ store, readSettings }: StageContext, run: Run): Promise<void> {
  const ticket = run.ticket ?? (await store.tickets.open(run.message.project, run.message));
  if (ticket.project !== run.project.id) {
    const found = await readSettings(ticket.project);
    if (found === null) throw new Error("the project that the ticket was moved to no longer exists");
    Object.assign(run, found);
  }
  run.ticket = ticket;
  run.stage = ticket.stage;
  move(run, "received", "message received");
}
