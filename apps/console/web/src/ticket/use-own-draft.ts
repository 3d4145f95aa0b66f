import { useCallback, useEffect, useRef, useState } from "react";
import type { TicketDetail } from "@svc/contracts";
import { NO_TEXTS, hasText, seenOf } from "./own-drafts.ts";
import type { ComposeMode, DraftFile, Macro, OwnDraft, OwnDrafts, SeenTicket } from "./own-drafts.ts";
import { useReplyFiles } from "./use-reply-files.ts";

/** Delay of storing after the last key press: a reload loses at most what was typed in this time. */
const STORE_MS = 250;
const NO_FILES: readonly DraftFile[] = [];

/** Returns the unsent texts and files of a ticket, which are stored in this browser and synchronized between tabs. */
// oxlint-disable-next-line max-lines-per-function -- One state that is stored and synchronized as a whole.
export function useOwnDraft(ticket: TicketDetail, drafts: OwnDrafts) {
  const [stored] = useState(() => drafts.find(ticket.id));
  const { id, project } = ticket;
  // True while this tab has changes that are not stored. Tabs with the same ticket show the last change, and a tab
  // stores nothing twice, so that it does not overwrite the changes of another one.
  const isDirty = useRef(false);
  const markDirty = () => {
    isDirty.current = true;
  };
  const files = useReplyFiles({ ticketId: id, project, stored: stored?.files ?? NO_FILES, onSent: markDirty });
  // Null until the operator chooses one: then a draft that is ready to send is in the field.
  const [mode, setMode] = useState<ComposeMode | null>(stored?.mode ?? null);
  const [texts, setTexts] = useState(stored?.texts ?? NO_TEXTS);
  const [macro, setMacro] = useState<Macro | null>(stored?.macro ?? null);
  // The state of the ticket that the operator saw when the text was begun.
  const [seen, setSeen] = useState<SeenTicket>(() => stored?.seen ?? seenOf(ticket));

  const now: OwnDraft = { mode: mode ?? "reply", texts, macro, seen, files: files.drafts };
  const latest = useRef(now);
  useEffect(() => {
    latest.current = now;
  });
  const storedFiles = JSON.stringify(files.drafts);
  const store = useCallback(() => {
    if (!isDirty.current) return;
    isDirty.current = false;
    drafts.save(id, latest.current);
  }, [drafts, id]);
  useEffect(() => {
    const timer = setTimeout(store, STORE_MS);
    globalThis.addEventListener("pagehide", store);
    return () => {
      clearTimeout(timer);
      globalThis.removeEventListener("pagehide", store);
    };
  }, [store, storedFiles, seen, mode, texts, macro]);
  useEffect(() => store, [store]);
  const applyChange = useRef<(draft: OwnDraft | null) => void>(() => undefined);
  useEffect(() => {
    applyChange.current = (draft) => {
      if (isDirty.current || files.isSending) return;
      setTexts(draft?.texts ?? NO_TEXTS);
      setMacro(draft?.macro ?? null);
      setSeen(draft?.seen ?? seenOf(ticket));
      files.replace(draft?.files ?? NO_FILES);
      if (draft !== null) setMode(draft.mode);
    };
  });
  useEffect(() => drafts.onChange(id, (draft) => applyChange.current(draft)), [drafts, id]);
  return {
    hasStored: stored !== null,
    files,
    mode,
    setMode,
    /** Shows the text of another kind. */
    choose(next: ComposeMode) {
      if (hasText(texts)) markDirty();
      setMode(next);
    },
    /** Replaces the text of a kind, and shows it. */
    write(kind: ComposeMode, text: string) {
      markDirty();
      setMode(kind);
      setTexts({ ...texts, [kind]: text });
    },
    text: texts[mode ?? "reply"],
    texts,
    setTexts,
    macro,
    setMacro,
    seen,
    setSeen,
    isDirty,
  };
}
