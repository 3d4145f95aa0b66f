import { useCallback, useEffect, useRef, useState } from "react";
import type { TicketDetail } from "@svc/contracts";
import { NO_TEXTS, hasText, seenOf } from "./own-drafts.ts";
import type { ComposeMode, KeptFile, Macro, OwnDraft, OwnDrafts, SeenTicket } from "./own-drafts.ts";
import { useReplyFiles } from "./use-reply-files.ts";

/** Delay after the last letter before the text is stored: a reload loses at most that. */
const STORE_MS = 250;
const NO_FILES: readonly KeptFile[] = [];

/** The unsent text of a ticket with its files, stored in this browser, and followed when another tab changes it. */
// oxlint-disable-next-line max-lines-per-function -- one state that is stored and followed as a whole
export function useOwnDraft(ticket: TicketDetail, drafts: OwnDrafts) {
  const [stored] = useState(() => drafts.find(ticket.id));
  const { id, project } = ticket;
  // True while something written in this tab is not stored yet. Tabs with the same ticket show what was written last, and
  // a tab that is left stores nothing that it has stored before.
  const isOwn = useRef(false);
  const markOwn = () => {
    isOwn.current = true;
  };
  const files = useReplyFiles({ ticketId: id, project, kept: stored?.files ?? NO_FILES, onSent: markOwn });
  // Null until the operator decides: a draft that is sure stands in the field.
  const [mode, setMode] = useState<ComposeMode | null>(stored?.mode ?? null);
  const [texts, setTexts] = useState(stored?.texts ?? NO_TEXTS);
  const [macro, setMacro] = useState<Macro | null>(stored?.macro ?? null);
  // The state of the ticket that the operator saw when the text was begun.
  const [seen, setSeen] = useState<SeenTicket>(() => stored?.seen ?? seenOf(ticket));

  const now: OwnDraft = { mode: mode ?? "reply", texts, macro, seen, files: files.kept };
  const latest = useRef(now);
  useEffect(() => {
    latest.current = now;
  });
  const storedFiles = JSON.stringify(files.kept);
  const store = useCallback(() => {
    if (!isOwn.current) return;
    isOwn.current = false;
    drafts.keep(id, latest.current);
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
  const takeOver = useRef<(draft: OwnDraft | null) => void>(() => undefined);
  useEffect(() => {
    takeOver.current = (draft) => {
      if (isOwn.current || files.isSending) return;
      setTexts(draft?.texts ?? NO_TEXTS);
      setMacro(draft?.macro ?? null);
      setSeen(draft?.seen ?? seenOf(ticket));
      files.replace(draft?.files ?? NO_FILES);
      if (draft !== null) setMode(draft.mode);
    };
  });
  useEffect(() => drafts.onOther(id, (draft) => takeOver.current(draft)), [drafts, id]);
  return {
    hasStored: stored !== null,
    files,
    mode,
    setMode,
    /** Shows another kind of text. Each has its own. */
    choose(next: ComposeMode) {
      if (hasText(texts)) markOwn();
      setMode(next);
    },
    /** Shows a text of a kind in place of the one before. */
    write(kind: ComposeMode, text: string) {
      markOwn();
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
    isOwn,
  };
}
