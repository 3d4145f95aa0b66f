import { z } from "zod";
import type { ChannelId } from "./channels.ts";
import { LIMITS } from "./limits.ts";
import { ticketPrioritySchema } from "./ticket-item.ts";
import { ticketStageSchema } from "./ticket.ts";
import { lineUpTo, messageText } from "./well-formed.ts";

/** Limits of submitted issues. Characters are Unicode code points, times milliseconds. */
export const ISSUE_LIMITS = {
  clientIssueIdMaxChars: 200,
  titleMaxChars: 200,
  descriptionMaxChars: LIMITS.textMaxChars,
  sourceMaxChars: 500,
  personMaxChars: 200,
  /** Maximum time that a request waits for triage. */
  waitMs: 20_000,
} as const;

/** Identifies tickets of submitted issues: `channel_meta.origin`, and the filter `origin` of the list. */
export const ISSUE_ORIGIN = "tool-server";

/** Prefix of the chat IDs of submitted issues, which no other chat of the API channel can have. */
export const ISSUE_CHAT_PREFIX = "issue:";

/** Returns true if the chat belongs to a submitted issue. */
export function isIssueChat({ channelId, chatId }: { channelId: ChannelId; chatId: string }): boolean {
  return channelId === "api" && chatId.startsWith(ISSUE_CHAT_PREFIX);
}

/** An issue to create a ticket from. */
export const issueInputSchema = z.object({
  clientIssueId: lineUpTo(ISSUE_LIMITS.clientIssueIdMaxChars, "invalid_line").describe(
    "Caller's ID of the issue. A repeated ID in the same project returns the existing ticket.",
  ),
  title: lineUpTo(ISSUE_LIMITS.titleMaxChars, "invalid_line").describe("Summary in one line."),
  description: messageText(ISSUE_LIMITS.descriptionMaxChars).describe("Description of the problem or task."),
  severity: z
    .enum(ticketPrioritySchema.options, { error: "must be one of low, normal, high, urgent" })
    .optional()
    .describe("Priority of the ticket. Defaults to `normal`."),
  source: lineUpTo(ISSUE_LIMITS.sourceMaxChars, "invalid_line")
    .optional()
    .describe("Origin of the issue, such as the name of a note. Stored in the ticket's `channel_meta`."),
  person: lineUpTo(ISSUE_LIMITS.personMaxChars, "invalid_line")
    .optional()
    .describe("Suggested assignee, in the sender's terms. Shown to operators; does not assign the ticket."),
  dueDate: z.iso
    .date({ error: "must be a date as YYYY-MM-DD" })
    .optional()
    .describe("Due date, as YYYY-MM-DD. Shown to operators."),
});
export type IssueInput = z.infer<typeof issueInputSchema>;

/** Result of submitting an issue. */
export const submittedIssueSchema = z.object({
  ticketId: z.string(),
  project: z
    .string()
    .nullable()
    .describe(
      "Assignee. Null, like `agentId`, `confidence` and `reason`, unless the key is an administrator's or the selected agent belongs to the key's own project.",
    ),
  agentId: z.string().nullable().describe("Selected agent, or null if no agent fits."),
  confidence: z.number().nullable().describe("Confidence of the selection, from 0 to 1."),
  reason: z.string().nullable().describe("Reason for the selection, for people."),
  stage: ticketStageSchema.describe("`review`: waiting for an operator. `triage`: agent selection is still running."),
  created: z.boolean().describe("False if a ticket with this `clientIssueId` already existed."),
});
export type SubmittedIssue = z.infer<typeof submittedIssueSchema>;
