import { z } from "zod";
import { LIMITS, lineUpTo, messageText } from "./limits.ts";
import { ticketPrioritySchema, ticketStageSchema } from "./ticket.ts";
import type { ChannelId } from "./channels.ts";

/** Limits of notes and of the question about them. Characters are Unicode code points. */
export const NOTES_INPUT_LIMITS = { notesMaxChars: LIMITS.textMaxChars, questionMaxChars: 500 } as const;

/** Approximate syntax of BCP 47. Unknown tags are ignored. */
const LOCALE = /^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}$/;

/** Dictated notes, and options for processing them. */
export const notesInputSchema = z.object({
  notes: messageText(NOTES_INPUT_LIMITS.notesMaxChars).describe("The notes, as dictated or typed."),
  locale: z
    .string()
    .regex(LOCALE, { error: "must be a language tag, such as en or pt-BR" })
    .optional()
    .describe("Language (BCP 47) of notes that are too short to detect it."),
  date: z.iso
    .date({ error: "must be a date as YYYY-MM-DD" })
    .optional()
    .describe(
      'Date of the notes, as YYYY-MM-DD, which "tomorrow" and similar words refer to. Defaults to today in UTC.',
    ),
  question: messageText(NOTES_INPUT_LIMITS.questionMaxChars)
    .optional()
    .describe("A question about the notes. The response then contains the passages that are most relevant to it."),
});
export type NotesInput = z.infer<typeof notesInputSchema>;

/** A passage in the given notes. */
export const notePositionSchema = z.object({
  start: z.int().describe("Start offset in the notes, in UTF-16 code units."),
  end: z.int().describe("End offset (exclusive)."),
});

/**
 * An issue found in notes, which can be submitted as a ticket. `svc_submit_issue` accepts it unchanged and ignores
 * `quotes`.
 */
export const noteIssueSchema = z.object({
  clientIssueId: z.string().describe("Deterministic: the same notes produce the same IDs."),
  title: z.string(),
  description: z.string(),
  severity: ticketPrioritySchema,
  person: z.string().optional().describe("Person responsible, if the notes name one."),
  dueDate: z.iso.date().optional().describe("Due date, if the notes name one."),
  quotes: z.array(notePositionSchema).describe("The passages that mention it, in reading order."),
});

/** Result of processing dictated notes. */
export const notesSummarySchema = z.object({
  cleanedText: z.string().describe("The cleaned-up notes, without slips, repetitions and filler words."),
  summary: z.string().describe("Summary of the notes."),
  issues: z.array(noteIssueSchema),
  passages: z
    .array(notePositionSchema)
    .optional()
    .describe("If a question was asked, the most relevant passages, best first."),
});
export type NotesSummaryItem = z.infer<typeof notesSummarySchema>;

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
