import { z } from "zod";
import type { ChannelId } from "./incoming-message.ts";
import { LIMITS } from "./limits.ts";
import { ticketPrioritySchema } from "./ticket-item.ts";
import { ticketStageSchema } from "./ticket.ts";
import { lineUpTo, messageText } from "./well-formed.ts";

/** Bounds of submitted issues. Characters are Unicode code points, times milliseconds. */
export const ISSUE_LIMITS = {
  clientIssueIdMaxChars: 200,
  titleMaxChars: 200,
  descriptionMaxChars: LIMITS.textMaxChars,
  sourceMaxChars: 500,
  personMaxChars: 200,
  /** So long a call waits for triage. */
  waitMs: 20_000,
} as const;

/** What tells tickets of submitted issues from others: `channel_meta.origin` and the filter `origin` of the list. */
export const ISSUE_ORIGIN = "tool-server";

/** What the chats of submitted issues begin with; no other chat of the API channel may. */
export const ISSUE_CHAT_PREFIX = "issue:";

/** True for the chat of a submitted issue. */
export function isIssueChat({ channelId, chatId }: { channelId: ChannelId; chatId: string }): boolean {
  return channelId === "api" && chatId.startsWith(ISSUE_CHAT_PREFIX);
}

/** An issue to make a ticket of. */
export const issueInputSchema = z.object({
  clientIssueId: lineUpTo(ISSUE_LIMITS.clientIssueIdMaxChars, "invalid_line").describe(
    "The caller's id of the issue. Sent again in the same project, it is the same ticket.",
  ),
  title: lineUpTo(ISSUE_LIMITS.titleMaxChars, "invalid_line").describe("What it is about, in one line."),
  description: messageText(ISSUE_LIMITS.descriptionMaxChars).describe("What is wrong or to be done."),
  severity: z
    .enum(ticketPrioritySchema.options, { error: "one of low, normal, high, urgent" })
    .optional()
    .describe("The ticket's priority; normal where it is left out."),
  source: lineUpTo(ISSUE_LIMITS.sourceMaxChars, "invalid_line")
    .optional()
    .describe("Where it comes from, such as the name of a note; kept in the ticket's channel_meta."),
  person: lineUpTo(ISSUE_LIMITS.personMaxChars, "invalid_line")
    .optional()
    .describe("Who is to do it, as the sender calls them; shown to operators. It assigns the ticket to nobody."),
  dueDate: z.iso
    .date({ error: "a day as YYYY-MM-DD" })
    .optional()
    .describe("The day by which it is to be done, as YYYY-MM-DD; shown to operators."),
});
export type IssueInput = z.infer<typeof issueInputSchema>;

/** What became of a submitted issue. */
export const submittedIssueSchema = z.object({
  ticketId: z.string(),
  project: z
    .string()
    .nullable()
    .describe(
      "Who works on it. Null, as agentId, confidence and reason are, unless the key is an administrator's or the agent that was chosen is of its own project.",
    ),
  agentId: z.string().nullable().describe("The agent that was chosen. Null where none fits, too."),
  confidence: z.number().nullable().describe("0 to 1: how sure the choice is."),
  reason: z.string().nullable().describe("Why it was chosen, for people."),
  stage: ticketStageSchema.describe(
    "`review`: it waits for an operator. `triage`: the choice takes longer than the call waits; it goes on.",
  ),
  created: z.boolean().describe("False where there was a ticket of this clientIssueId."),
});
export type SubmittedIssue = z.infer<typeof submittedIssueSchema>;
