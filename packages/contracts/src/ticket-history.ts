import { z } from "zod";
import { ticketDetailSchema } from "./ticket-item.ts";

const placeSchema = z
  .string()
  .regex(/^\d{1,15}$/, { error: "a whole number" })
  .transform(Number)
  .optional();

/** From where on older ones are asked for; what is left out is not given. */
export const ticketHistoryInputSchema = z.object({
  messagesBefore: placeSchema,
  repliesBefore: placeSchema,
  eventsBefore: placeSchema,
});
export type TicketHistoryInput = z.input<typeof ticketHistoryInputSchema>;

/** What was said in a ticket and done to it earlier, each oldest first. */
export const ticketHistorySchema = ticketDetailSchema.pick({ messages: true, replies: true, events: true, more: true });
export type TicketHistory = z.infer<typeof ticketHistorySchema>;
