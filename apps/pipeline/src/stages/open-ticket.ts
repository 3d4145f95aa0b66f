import { move } from "../run.ts";
import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/** Opens the ticket of the conversation, or takes the message into it. Idempotent: a retry finds the open ticket. */
export async function openTicket({ store }: StageContext, run: Run): Promise<void> {
  const ticket = await store.tickets.open(run.message.project, run.message);
  run.ticket = ticket;
  run.stage = ticket.stage;
  move(run, "received", "a message came in");
}
