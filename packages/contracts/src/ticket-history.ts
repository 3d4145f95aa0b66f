import { z } from "zod";
import { ticketDetailSchema } from "./ticket-item.ts";

const placeSchema = z
  .string()
  .regex(/^\d{1,15}$/, { error: "must be an integer" })
  .transform(Number)
  .optional();

/** Positions before which older entries are returned. A list without a position is not returned. */
export const ticketHistoryInputSchema = z.object({
  messagesBefore: placeSchema,
  repliesBefore: placeSchema,
  eventsBefore: placeSchema,
});
export type TicketHistoryInput = z.input<typeof ticketHistoryInputSchema>;

/** Earlier entries of a ticket, each list oldest first. */
export const ticketHistorySchema = ticketDetailSchema.pick({ messages: true, replies: true, events: true, more: true });
export type TicketHistory = z.infer<typeof ticketHistorySchema>;
