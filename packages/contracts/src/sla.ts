import { z } from "zod";
import { channelIdSchema } from "./incoming-message.ts";
import { ticketPrioritySchema } from "./ticket.ts";

/** Limits of SLA targets. */
export const SLA_LIMITS = {
  targetsMax: 50,
  /** Maximum target in minutes of business time: 90 days. */
  minutesMax: 129_600,
} as const;

const minutesField = (text: string) => z.int().min(1).max(SLA_LIMITS.minutesMax).optional().describe(text);

/** Targets for tickets of a priority and a channel, in minutes of business time. */
export const slaTargetSchema = z.strictObject({
  priority: ticketPrioritySchema.optional().describe("Priority of the tickets. Omitted for any."),
  channelId: channelIdSchema.optional().describe("Channel of the tickets. Omitted for any."),
  firstReplyMinutes: minutesField("Minutes of business time until the first reply."),
  nextReplyMinutes: minutesField("Minutes of business time until each later reply."),
  resolutionMinutes: minutesField("Minutes of business time from the first need for a person until the resolution."),
});
export type SlaTarget = z.infer<typeof slaTargetSchema>;

/** SLA targets of a project. For a ticket, the first that matches its priority and channel counts. */
export const slaTargetsSchema = z.array(slaTargetSchema).max(SLA_LIMITS.targetsMax);
