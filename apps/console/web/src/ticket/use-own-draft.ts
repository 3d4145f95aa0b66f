import { useEffect, useRef, useState } from "react";
import type { TicketDetail } from "@svc/contracts";
import { seenOf } from "./own-drafts.ts";
import type { ComposeMode, KeptFile, OwnDraft, OwnDrafts, SeenTicket } from "./own-drafts.ts";
import { useReplyFiles } from "./use-reply-files.ts";

/** Delay after the last letter before the text is stored: a reload loses at most that. */
const STORE_MS = 250;
const NO_FILES: readonly KeptFile[] = [];

/** The unsent text of a ticket with its files, stored in this browser, and followed when another tab changes it. */
export function useOwnDraft(ticket: TicketDetail, drafts: OwnDrafts) {
  const [stored] = useState(() => drafts.find(ticket.id));
  const { id, project } = ticket;
  const files = useReplyFiles({ ticketId: id, project, kept: stored?.files ?? NO_FILES });
  // Null until the operator decides: a draft that is sure stands in the field.
  const [mode, setMode] = useState<ComposeMode | null>(stored?.mode ?? null);
  const [text, setText] = useState(stored?.text ?? "");
  // The state of the ticket that the operator saw when the text was begun.
  const [seen, setSeen] = useState<SeenTicket>(() => stored?.seen ?? seenOf(ticket));

  // Only text that was written in this tab is stored by it: of two tabs with the same text, the one that sends it decides.
  const isOwn = useRef(false);
  const latest = useRef<OwnDraft>({ mode: mode ?? "reply", text, seen, files: files.kept });
  useEffect(() => {
    latest.current = { mode: mode ?? "reply", text, seen, files: files.kept };
  });
  const storedFiles = JSON.stringify(files.kept);
  useEffect(() => {
    const store = () => {
      if (isOwn.current) drafts.keep(id, latest.current);
    };
    const timer = setTimeout(store, STORE_MS);
    globalThis.addEventListener("pagehide", store);
    return () => {
      clearTimeout(timer);
      globalThis.removeEventListener("pagehide", store);
    };
  }, [drafts, storedFiles, seen, mode, text, id]);
  useEffect(
    () => () => {
      if (isOwn.current) drafts.keep(id, latest.current);
    },
    [drafts, id],
  );
  const takeOver = useRef<(draft: OwnDraft | null) => void>(() => undefined);
  useEffect(() => {
    takeOver.current = (draft) => {
      if (isOwn.current) return;
      setText(draft?.text ?? "");
      setSeen(draft?.seen ?? seenOf(ticket));
      files.replace(draft?.files ?? NO_FILES);
      if (draft !== null) setMode(draft.mode);
    };
  });
  useEffect(() => drafts.onOther(id, (draft) => takeOver.current(draft)), [drafts, id]);
  return { hasStored: stored !== null, files, mode, setMode, text, setText, seen, setSeen, isOwn };
}
