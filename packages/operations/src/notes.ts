import { summarizeNotes as readNotes } from "@svc/agents";
import type { LanguageModels } from "@svc/agents";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { checkInput, notesInputSchema } from "@svc/contracts";
import type { NotesInput, NotesSummaryItem } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Store } from "@svc/store";
import { audited } from "./audited.ts";

/** Dependencies of reading notes. */
export interface NotesDeps {
  store: Store;
  /** Null if no server with language models is configured: rules and statistics are used instead. */
  models: LanguageModels | null;
  log?: Log;
}

/**
 * Cleans and summarizes dictated notes, and finds their issues. Stores nothing. The same notes give the same ids of
 * issues. Scope agents:execute. Throws invalid_request with every error of the input, and rejects with the signal's
 * reason when it is aborted.
 */
export const summarizeNotes = audited(
  "notes.summarize",
  async function summarizeNotes(
    { models }: NotesDeps,
    principal: Principal,
    input: NotesInput,
    options: { signal?: AbortSignal } = {},
  ): Promise<NotesSummaryItem> {
    requireScope(principal, "agents:execute");
    const { notes, locale, date, question } = checkInput(notesInputSchema, input, "The notes");
    options.signal?.throwIfAborted();
    const model = (await models?.forAgent({ model: null })) ?? null;
    const signal = options.signal ?? new AbortController().signal;
    const read = await readNotes({
      notes,
      locale,
      date,
      question,
      signal,
      model: model === null ? null : { model, project: principal.project, signal },
    });
    const { cleanedText, summary, issues, passages } = read;
    return { cleanedText, summary, issues, ...(passages === undefined ? {} : { passages }) };
  },
  { objectOf: () => null },
);
