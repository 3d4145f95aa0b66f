import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { ticketPrioritySchema } from "./ticket-item.ts";
import { messageText } from "./well-formed.ts";

/** Bounds of notes and of what is asked of them. Characters are Unicode code points. */
export const NOTES_INPUT_LIMITS = { notesMaxChars: LIMITS.textMaxChars, questionMaxChars: 500 } as const;

/** What BCP 47 allows, roughly: a tag that nobody knows counts as none. */
const LOCALE = /^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}$/;

/** Dictated notes, and what is wanted of them. */
export const notesInputSchema = z.object({
  notes: messageText(NOTES_INPUT_LIMITS.notesMaxChars).describe("The notes as they were dictated or typed."),
  locale: z
    .string()
    .regex(LOCALE, { error: "a language tag, such as en or pt-BR" })
    .optional()
    .describe("The language (BCP 47) of notes that are too short to tell."),
  date: z.iso
    .date({ error: "a day as YYYY-MM-DD" })
    .optional()
    .describe(
      'The day on which they were dictated, as YYYY-MM-DD, from which "tomorrow" counts. Today in UTC by default.',
    ),
  question: messageText(NOTES_INPUT_LIMITS.questionMaxChars)
    .optional()
    .describe("What is wanted of them: the answer then has the places that are about it."),
});
export type NotesInput = z.infer<typeof notesInputSchema>;

/** A place in the given notes. */
export const notePlaceSchema = z.object({
  start: z.int().describe("Offset of its first UTF-16 unit in the notes."),
  end: z.int().describe("Offset behind its last one."),
});

/** Something that notes tell of, which may become a ticket: `svc_submit_issue` takes it as it is, and leaves `quotes` aside. */
export const noteIssueSchema = z.object({
  clientIssueId: z.string().describe("The same notes give the same ids."),
  title: z.string(),
  description: z.string(),
  severity: ticketPrioritySchema,
  person: z.string().optional().describe("Who is to do it, where the notes name somebody."),
  dueDate: z.iso.date().optional().describe("The day by which it is to be done, where the notes say so."),
  quotes: z.array(notePlaceSchema).describe("Where the notes say so, in reading order."),
});

/** What dictated notes come to. */
export const notesSummarySchema = z.object({
  cleanedText: z.string().describe("The notes as they were meant: without slips, repeats and sounds of thinking."),
  summary: z.string().describe("What they say in short."),
  issues: z.array(noteIssueSchema),
  passages: z
    .array(notePlaceSchema)
    .optional()
    .describe("Where a question was asked: the places that are most about it, best first."),
});
export type NotesSummaryItem = z.infer<typeof notesSummarySchema>;
