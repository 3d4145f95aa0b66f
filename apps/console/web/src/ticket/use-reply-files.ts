import { useEffect, useRef, useState } from "react";
import type { OperatorFile } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import type { KeptFile } from "./own-drafts.ts";

/** A file that goes with what is being written. */
export interface ReplyFile {
  key: number;
  name: string;
  sizeBytes: number;
  state: "sending" | "ready" | "failed";
  /** What the server calls it, once it has it. */
  fileId: string | null;
  /** When it was handed in, in milliseconds since 1970. */
  atMs: number;
  /** Why it was not taken, in words. */
  error: string | null;
  /** What is tried again; null where that would not help. */
  content: File | null;
}

/** OPERATOR_FILE_LIMITS of the contracts say the same; the server checks. */
const MAX_COUNT = 10;
const MAX_BYTES = 10 * 1024 * 1024;
/** 10 MB at 1 Mbit/s take 80 seconds. */
const TIMEOUT_MS = 5 * 60_000;
/** The server lets go of files that nothing names after a day (OPERATOR_FILE_LIMITS); an hour is for the sending. */
const KEPT_MS = 23 * 3_600_000;

/** Files that were kept with a text; one that the server has not, or not any more, is there to be chosen again. */
function restore(kept: readonly KeptFile[], t: Texts["t"]): ReplyFile[] {
  return kept.map(({ atMs, fileId, name, sizeBytes }, index) => {
    const isThere = fileId !== null && Date.now() - atMs < KEPT_MS;
    const found = isThere
      ? { state: "ready" as const, fileId, error: null }
      : { state: "failed" as const, fileId: null, error: t("compose.lostFile") };
    return { key: -index - 1, name, sizeBytes, atMs, content: null, ...found };
  });
}

/** The files that go with a reply to this ticket, first those of `kept`: each is handed in as soon as it is chosen. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function useReplyFiles({
  ticketId,
  project,
  kept,
  onSent,
}: {
  ticketId: string;
  project: string;
  kept: readonly KeptFile[];
  onSent: () => void;
}) {
  const { connection, toasts } = useServices();
  const { t } = useTexts();
  const [files, setFiles] = useState<readonly ReplyFile[]>(() => restore(kept, t));
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
    /** Whether one of them was not handed in. */
    hasFailed: files.some(({ state }) => state === "failed"),
    /** As they are kept with the text. */
    kept: files.map(({ atMs, fileId, name, sizeBytes }): KeptFile => ({ atMs, fileId, name, sizeBytes })),
    /** As a decision names them. */
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
        setFiles((all) => [...all, { key, name, sizeBytes, fileId: null, atMs: Date.now(), error, ...found }]);
        if (error === null) void send(key, file);
      }
    },
    tryAgain: ({ content, key }: ReplyFile) => {
      if (content === null) return;
      change(key, { state: "sending", error: null });
      void send(key, content);
    },
    remove: (key: number) => setFiles((all) => all.filter((file) => file.key !== key)),
    /** Shows these, and no others. */
    replace: (others: readonly KeptFile[]) => setFiles(restore(others, t)),
  };
}
export type ReplyFiles = ReturnType<typeof useReplyFiles>;
