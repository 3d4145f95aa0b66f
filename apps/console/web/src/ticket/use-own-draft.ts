import { useCallback, useEffect, useRef, useState } from "react";
import type { OperatorFile, TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { hasText, NO_TEXTS, seenOf } from "./own-drafts.ts";
import type { ComposeMode, DraftFile, Macro, OwnDraft, OwnDrafts, SeenTicket } from "./own-drafts.ts";

/** A file of the text being written. */
export interface ReplyFile {
  key: number;
  name: string;
  sizeBytes: number;
  state: "sending" | "ready" | "failed";
  /** Id of the file on the server, once it is uploaded. */
  fileId: string | null;
  /** Time of the upload, in milliseconds since 1970. */
  atMs: number;
  /** Description of the error. */
  error: string | null;
  /** The content for a retry; null if that would not help. */
  content: File | null;
  /** The chosen file, if it is an image, for its thumbnail; null after a reload. */
  image: File | null;
}

/** Copied from OPERATOR_FILE_LIMITS of the contracts; the server checks them. */
const MAX_COUNT = 10;
const MAX_BYTES = 10 * 1024 * 1024;
/** 10 MB at 1 Mbit/s take 80 seconds. */
const TIMEOUT_MS = 5 * 60_000;
/** The server deletes files without a reply after a day (OPERATOR_FILE_LIMITS); an hour is reserved for sending. */
const AVAILABLE_MS = 23 * 3_600_000;

/** Restores files stored with a text; one that is not (or no longer) on the server must be chosen again. */
function restore(stored: readonly DraftFile[], t: Texts["t"]): ReplyFile[] {
  return stored.map(({ atMs, fileId, name, sizeBytes }, index) => {
    const isThere = fileId !== null && Date.now() - atMs < AVAILABLE_MS;
    const found = isThere
      ? { state: "ready" as const, fileId, error: null }
      : { state: "failed" as const, fileId: null, error: t("compose.lostFile") };
    return { key: -index - 1, name, sizeBytes, atMs, content: null, image: null, ...found };
  });
}

/** The files of a reply to this ticket, initially those of `stored`: each is uploaded as soon as it is chosen. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
function useReplyFiles({
  ticketId,
  project,
  stored,
  onSent,
}: {
  ticketId: string;
  project: string;
  stored: readonly DraftFile[];
  onSent: () => void;
}) {
  const { connection, toasts } = useServices();
  const { t } = useTexts();
  const [files, setFiles] = useState<readonly ReplyFile[]>(() => restore(stored, t));
  const lastKey = useRef(0);
  const stopping = useRef<AbortController | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    stopping.current = controller;
    return () => controller.abort();
  }, []);
  const isSending = files.some(({ state }) => state === "sending");
  useEffect(() => {
    if (!isSending) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    globalThis.addEventListener("beforeunload", ask);
    return () => globalThis.removeEventListener("beforeunload", ask);
  }, [isSending]);
  const change = (key: number, found: Partial<ReplyFile>) =>
    setFiles((all) => all.map((file) => (file.key === key ? { ...file, ...found } : file)));

  async function send(key: number, file: File): Promise<void> {
    const form = new FormData();
    form.append("file", file, file.name);
    const signal = stopping.current?.signal;
    try {
      const path = `/api/v1/admin/tickets/${encodeURIComponent(ticketId)}/files`;
      const request = { project, form, timeoutMs: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
      const { item } = (await connection.send("POST", path, request)) as { item: OperatorFile };
      onSent();
      change(key, { state: "ready", fileId: item.fileId, name: item.filename, atMs: Date.now(), content: null });
    } catch (error) {
      change(key, { state: "failed", error: describeError(error, t) });
    }
  }

  return {
    files,
    isSending,
    /** Whether the upload of one of them has failed. */
    hasFailed: files.some(({ state }) => state === "failed"),
    /** In the format in which they are stored with the text. */
    drafts: files.map(({ atMs, fileId, name, sizeBytes }): DraftFile => ({ atMs, fileId, name, sizeBytes })),
    /** In the format of a decision. */
    attachments: files.flatMap(({ fileId }) => (fileId === null ? [] : [{ fileId }])),
    add(chosen: readonly File[]) {
      const room = Math.max(0, MAX_COUNT - files.length);
      if (chosen.length > room) {
        const text = t("compose.tooManyFiles", { max: MAX_COUNT, n: chosen.length - room });
        toasts.show({ kind: "error", text });
      }
      for (const file of chosen.slice(0, room)) {
        lastKey.current += 1;
        const key = lastKey.current;
        const { name, size: sizeBytes } = file;
        const error = sizeBytes === 0 ? t("compose.emptyFile") : sizeBytes > MAX_BYTES ? t("compose.tooLarge") : null;
        const found =
          error === null ? { state: "sending" as const, content: file } : { state: "failed" as const, content: null };
        const image = file.type.startsWith("image/") ? file : null;
        setFiles((all) => [...all, { key, name, sizeBytes, fileId: null, atMs: Date.now(), error, image, ...found }]);
        if (error === null) void send(key, file);
      }
    },
    tryAgain: ({ content, key }: ReplyFile) => {
      if (content === null) return;
      change(key, { state: "sending", error: null });
      void send(key, content);
    },
    remove: (key: number) => setFiles((all) => all.filter((file) => file.key !== key)),
    /** Replaces the files. */
    replace: (others: readonly DraftFile[]) => setFiles(restore(others, t)),
  };
}
export type ReplyFiles = ReturnType<typeof useReplyFiles>;

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
