import { useState } from "react";
import { uploadFile } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { createStore } from "../ui/create-store.ts";
import type { Store } from "../ui/create-store.ts";
import { describeError } from "../ui/describe-error.ts";

/** A file on its way into a knowledge base. */
export interface Upload {
  id: number;
  name: string;
  sizeBytes: number;
  state: "waiting" | "sending" | "sent" | "failed";
  /** Why it was not taken, in words. */
  error: string | null;
}

/** The files that somebody has chosen, sent a few at a time; one that fails harms no other. */
export interface UploadQueue {
  uploads: Store<readonly Upload[]>;
  add: (files: readonly File[]) => void;
  /** Sends one again that failed. */
  retry: (id: number) => void;
  /** Forgets those that are done, or one. */
  clear: (id?: number) => void;
  /** Ends what is being sent. */
  stop: () => void;
}

interface UploadQueueOptions {
  send: (file: File, signal: AbortSignal) => Promise<void>;
  /** Words for what went wrong. */
  describe: (error: unknown) => string;
  /** Called after each accepted file. */
  onSent: () => void;
  /** Says why a file is not even sent; null for one that is. */
  refuse: (file: File) => string | null;
}

const AT_ONCE = 2;

/** Makes a queue without files. */
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

/** KB_LIMITS of the contracts say the same; the server checks. */
const FILE_MAX_BYTES = 50 * 1024 * 1024;
/** What a chooser of files offers. */
export const ACCEPTED_FILES = ".txt,.md,.markdown,.html,.htm,.pdf,.docx,.xlsx,.csv";

/** The files that somebody puts into a knowledge base; `findKb` says into which, when the first is sent. */
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
