import type { ProjectId } from "@svc/store";
import type { LanguageModel, ModelUsage } from "../models/language-model.ts";
import type { NoteIssue, NoteQuote } from "./find-issues.ts";

/** Bounds of notes: UTF-16 units of what is looked at, which tools bound further, and of a summary. */
export const NOTES_LIMITS = { maxChars: 200_000, summaryMaxChars: 2_000 } as const;

/** The language model that may read notes, and for whom. */
export interface NotesModel {
  model: LanguageModel;
  project: ProjectId;
  /** Ends what is on its way; `summarizeNotes` then rejects with its reason. */
  signal: AbortSignal;
}

/** What notes come to. */
export interface NotesSummary {
  /** The notes as they were meant: without slips, repeats and sounds of thinking. Lists and headings stay. */
  cleanedText: string;
  /** What they say in short: at most 170 words. */
  summary: string;
  issues: NoteIssue[];
  /** Where something was asked: the places that are most about it, best first; at most ten. */
  passages?: NoteQuote[];
  /** What a language model had to do with it; absent where none was asked. */
  model?: { usage: ModelUsage | null; fallback: string | null };
}
