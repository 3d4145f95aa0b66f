import { useEffect, useRef, useState } from "react";
import type { OperatorFile } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";

/** A file that goes with what is being written. */
export interface ReplyFile {
  key: number;
  name: string;
  sizeBytes: number;
  state: "sending" | "ready" | "failed";
  /** What the server calls it, once it has it. */
  fileId: string | null;
  /** Why it was not taken, in words. */
  error: string | null;
}

/** OPERATOR_FILE_LIMITS of the contracts say the same; the server checks. */
const MAX_COUNT = 10;
const MAX_BYTES = 10 * 1024 * 1024;
/** 10 MB at 1 Mbit/s take 80 seconds. */
const TIMEOUT_MS = 5 * 60_000;

/** The files that go with a reply to this ticket: each is handed in as soon as it is chosen. */
export function useReplyFiles({ ticketId, project }: { ticketId: string; project: string }) {
  const { connection } = useServices();
  const { t } = useTexts();
  const [files, setFiles] = useState<readonly ReplyFile[]>([]);
  const lastKey = useRef(0);
  const stopping = useRef<AbortController | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    stopping.current = controller;
    return () => controller.abort();
  }, []);
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
      change(key, { state: "ready", fileId: item.fileId, name: item.filename });
    } catch (fault) {
      change(key, { state: "failed", error: describeFault(fault, t) });
    }
  }

  return {
    files,
    isSending: files.some(({ state }) => state === "sending"),
    /** As a decision names them. */
    attachments: files.flatMap(({ fileId }) => (fileId === null ? [] : [{ fileId }])),
    add(chosen: readonly File[]) {
      const room = Math.max(0, MAX_COUNT - files.length);
      for (const file of chosen.slice(0, room)) {
        lastKey.current += 1;
        const key = lastKey.current;
        const error = file.size === 0 ? t("compose.emptyFile") : file.size > MAX_BYTES ? t("compose.tooLarge") : null;
        const state = error === null ? "sending" : "failed";
        setFiles((all) => [...all, { key, name: file.name, sizeBytes: file.size, state, fileId: null, error }]);
        if (state === "sending") void send(key, file);
      }
    },
    remove: (key: number) => setFiles((all) => all.filter((file) => file.key !== key)),
    clear: () => setFiles([]),
  };
}
export type ReplyFiles = ReturnType<typeof useReplyFiles>;
