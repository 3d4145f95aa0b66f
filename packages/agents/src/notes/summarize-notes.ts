import { setImmediate as nextTurn } from "node:timers/promises";
import { detectLanguage } from "@svc/text";
import { ModelError } from "../models/model-error.ts";
import { cleanPart } from "./clean-part.ts";
import { findPassages } from "./find-passages.ts";
import { findIssues } from "./find-issues.ts";
import type { CleanPart } from "./find-issues.ts";
import { noteParts } from "./note-parts.ts";
import { NOTES_LIMITS } from "./notes-summary.ts";
import type { NotesModel, NotesSummary } from "./notes-summary.ts";
import { partLanguages } from "./part-language.ts";
import { stopped } from "./stopped.ts";
import { sumUp } from "./sum-up.ts";
import { readNotesWithModel } from "./read-notes-with-model.ts";

/** From here on a text itself says what language it is in: see `detectLanguage`. */
const CLEAR_LANGUAGE = 0.5;

/** So long it works on notes before whatever else the process does has its turn, in milliseconds. */
const TURN_MS = 20;

/** So many places are weighed at which somebody may have corrected himself: more are left as they are. */
const MAX_CUES = 300;

/**
 * Makes something of dictated notes: cleaned of fillers, repeats and what the speaker took back, summed up, and the issues
 * that they tell of, each with its places in the notes. With a model it reads better; whenever that gives no usable answer
 * in time, and without one, it is done by rules and statistics. Of longer notes the first 200,000 UTF-16 units are looked
 * at. With a `question`, also the places that are most about it. `locale` says the language (BCP 47) where the notes are too
 * short to tell, `date` (`YYYY-MM-DD`) on which day they were dictated; today in UTC without one. Long notes are read in short turns, between which others have theirs; an aborted signal ends it with its reason.
 */
export async function summarizeNotes({
  notes: given,
  locale,
  date,
  question,
  model = null,
  signal,
}: {
  notes: string;
  locale?: string | undefined;
  date?: string | undefined;
  question?: string | undefined;
  model?: NotesModel | null;
  /** Ends the work where there is no model, whose own signal does it else. */
  signal?: AbortSignal | undefined;
}): Promise<NotesSummary> {
  // Never with half a character at the end.
  const notes = given.slice(0, NOTES_LIMITS.maxChars).replace(/[\uD800-\uDBFF]$/, "");
  const { language, confidence } = detectLanguage(notes, locale);
  const parts = await cleanParts(notes, language, model?.signal ?? signal);
  const isClear = confidence >= CLEAR_LANGUAGE;
  const today = date === undefined ? new Date() : new Date(`${date}T00:00:00Z`);
  const issues = findIssues(notes, parts, {
    alsoLanguages: isClear ? [] : ["en", ...(locale === undefined ? [] : [detectLanguage("", locale).language])],
    today,
  });
  const own: NotesSummary = {
    cleanedText: joinParts(parts),
    summary: sumUp(parts, issues, language),
    issues,
    ...(question === undefined ? {} : { passages: findPassages(parts, question, language) }),
  };
  if (model === null || parts.length === 0) return own;
  try {
    const { usage, ...read } = await readNotesWithModel({ notes, language, parts, own, today, model });
    return { ...own, ...read, model: { usage, fallback: null } };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return {
      ...own,
      model: { usage: null, fallback: `The model ${model.model.id} returned no answer: ${error.message}.` },
    };
  }
}

async function cleanParts(notes: string, language: string, signal: AbortSignal | undefined): Promise<CleanPart[]> {
  const budget = { cues: MAX_CUES };
  const languageOf = partLanguages(language);
  const pause = createPause(signal);
  const parts: CleanPart[] = [];
  for (const part of noteParts(notes, language)) {
    await pause();
    const said = notes.slice(part.start, part.end);
    const own = languageOf(said);
    parts.push({ ...part, language: own, text: part.kind === "heading" ? said : cleanPart(said, own, budget) });
  }
  return parts;
}

/** Makes the function that lets others have their turn where it is time for that; it rejects with the signal's reason. */
function createPause(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => {
      signal?.throwIfAborted();
      since = performance.now();
    });
  };
}

const BETWEEN = { nothing: "", word: " ", line: "\n", paragraph: "\n\n" } as const;

function joinParts(parts: readonly CleanPart[]): string {
  return parts
    .filter(({ text }) => text !== "")
    .map(
      (part, index) =>
        `${index === 0 ? "" : BETWEEN[part.begins]}${part.mark}${part.kind === "sentence" ? stopped(part.text) : part.text}`,
    )
    .join("");
}
