import { move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";

/**
 * Opens the ticket of the conversation, or takes the message into it, unless the claim has done so. A ticket that was given to another project is
 * worked on by that one: its agents and settings. Idempotent: a retry finds the open ticket.
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
