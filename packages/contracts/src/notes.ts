import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { ticketPrioritySchema } from "./ticket-item.ts";
import { messageText } from "./well-formed.ts";

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
export const notePlaceSchema = z.object({
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
  quotes: z.array(notePlaceSchema).describe("The passages that mention it, in reading order."),
});

/** Result of processing dictated notes. */
export const notesSummarySchema = z.object({
  cleanedText: z.string().describe("The cleaned-up notes, without slips, repetitions and filler words."),
  summary: z.string().describe("Summary of the notes."),
  issues: z.array(noteIssueSchema),
  passages: z
    .array(notePlaceSchema)
    .optional()
    .describe("If a question was asked, the most relevant passages, best first."),
});
export type NotesSummaryItem = z.infer<typeof notesSummarySchema>;
