import { useState } from "react";
import { uploadFile } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { createStore } from "../ui/create-store.ts";
import type { Store } from "../ui/create-store.ts";
import { describeError } from "../ui/describe-error.ts";

/** A file being uploaded to a knowledge base. */
export interface Upload {
  id: number;
  name: string;
  sizeBytes: number;
  state: "waiting" | "sending" | "sent" | "failed";
  /** Description of the error. */
  error: string | null;
}

/** The chosen files, sent a few at a time; a failing one does not affect the others. */
export interface UploadQueue {
  uploads: Store<readonly Upload[]>;
  add: (files: readonly File[]) => void;
  /** Sends a failed one again. */
  retry: (id: number) => void;
  /** Removes the finished ones from the list, or a single one. */
  clear: (id?: number) => void;
  /** Aborts the current uploads. */
  stop: () => void;
}

interface UploadQueueOptions {
  send: (file: File, signal: AbortSignal) => Promise<void>;
  /** Describes an error. */
  describe: (error: unknown) => string;
  /** Called after each accepted file. */
  onSent: () => void;
  /** Returns why a file is not sent; null if it is. */
  refuse: (file: File) => string | null;
}

const AT_ONCE = 2;

/** Creates an empty queue. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createUploadQueue({ send, describe, onSent, refuse }: UploadQueueOptions): UploadQueue {
  const uploads = createStore<readonly Upload[]>([]);
  const files = new Map<number, File>();
  const stopping = new AbortController();
  let lastId = 0;
  let running = 0;

  const set = (id: number, change: Partial<Upload>) =>
    uploads.set((all) => all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));

  async function sendOne(id: number, file: File): Promise<void> {
    running += 1;
    set(id, { state: "sending", error: null });
    try {
      await send(file, stopping.signal);
      files.delete(id);
      set(id, { state: "sent" });
      onSent();
    } catch (error) {
      set(id, { state: "failed", error: describe(error) });
    } finally {
      running -= 1;
      sendNext();
    }
  }

  function sendNext(): void {
    while (running < AT_ONCE && !stopping.signal.aborted) {
      const next = uploads.get().find(({ state }) => state === "waiting");
      const file = next === undefined ? undefined : files.get(next.id);
      if (next === undefined || file === undefined) return;
      void sendOne(next.id, file);
    }
  }

  return {
    uploads,
    add(chosen) {
      const added = chosen.map((file): Upload => {
        lastId += 1;
        files.set(lastId, file);
        const error = refuse(file);
        return {
          id: lastId,
          name: file.name,
          sizeBytes: file.size,
          state: error === null ? "waiting" : "failed",
          error,
        };
      });
      uploads.set((all) => [...all, ...added]);
      sendNext();
    },
    retry(id) {
      set(id, { state: "waiting", error: null });
      sendNext();
    },
    clear(id) {
      const isKept = (upload: Upload) => (id === undefined ? upload.state !== "sent" : upload.id !== id);
      uploads.set((all) => all.filter(isKept));
      for (const known of files.keys()) if (!uploads.get().some((upload) => upload.id === known)) files.delete(known);
    },
    stop: () => stopping.abort(),
  };
}

/** Copied from KB_LIMITS of the contracts; the server checks it. */
const FILE_MAX_BYTES = 50 * 1024 * 1024;
/** File types of the file chooser. */
export const ACCEPTED_FILES = ".txt,.md,.markdown,.html,.htm,.pdf,.docx,.xlsx,.csv";

/** The uploads to a knowledge base; `findKb` selects it when the first file is sent. */
export function useUploads(findKb: () => Promise<string>): UploadQueue {
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { t } = useTexts();
  const [queue] = useState(() =>
    createUploadQueue({
      async send(file, signal) {
        const kbId = await findKb();
        await uploadFile(connection, { project, kbId, signal }, file);
        void queryClient.invalidateQueries({ queryKey: ["documents", project, kbId] });
      },
      describe: (error) => describeError(error, t),
      refuse: ({ size }) => (size > FILE_MAX_BYTES ? t("upload.tooLarge") : size === 0 ? t("upload.empty") : null),
      onSent: () => void queryClient.invalidateQueries({ queryKey: ["kbs", project] }),
    }),
  );
  return queue;
}
