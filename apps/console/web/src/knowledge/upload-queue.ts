import { ServiceError } from "@svc/client";
import type { DocumentItem } from "@svc/contracts";
import { useState } from "react";
import { pauseMs } from "../api/connection.ts";
import type { Connection } from "../api/connection.ts";
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
  /** `reading` from the end of the upload until the text can be found. */
  state: "waiting" | "sending" | "reading" | "sent" | "failed";
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

interface UploadQueueOptions<Sent> {
  send: (file: File, signal: AbortSignal) => Promise<Sent>;
  /** Waits until the server has read what was sent. Throws if it cannot be read. */
  read: (sent: Sent, signal: AbortSignal) => Promise<void>;
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
export function createUploadQueue<Sent>({
  send,
  read,
  describe,
  onSent,
  refuse,
}: UploadQueueOptions<Sent>): UploadQueue {
  const uploads = createStore<readonly Upload[]>([]);
  const files = new Map<number, File>();
  const stopping = new AbortController();
  let lastId = 0;
  let running = 0;

  const set = (id: number, change: Partial<Upload>) =>
    uploads.set((all) => all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));

  const fail = (id: number, error: unknown) => set(id, { state: "failed", error: describe(error) });

  async function readOne(id: number, sent: Sent): Promise<void> {
    set(id, { state: "reading" });
    try {
      await read(sent, stopping.signal);
      files.delete(id);
      set(id, { state: "sent" });
    } catch (error) {
      fail(id, error);
    }
  }

  async function sendOne(id: number, file: File): Promise<void> {
    running += 1;
    set(id, { state: "sending", error: null });
    try {
      const sent = await send(file, stopping.signal);
      onSent();
      // The next file is sent meanwhile.
      void readOne(id, sent);
    } catch (error) {
      fail(id, error);
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

/** Polling interval of a file that is read, and the time between two calls for all of them. */
const READ_POLL_MS = 1_000;
const READ_PAUSE_MS = 250;

/** Statuses after which another call fails too: the session has ended, or the role was changed. */
const SIGNED_OUT: ReadonlySet<number | null> = new Set([401, 403]);

/** Returns true if the document was read, or deleted meanwhile. Throws the reason if it cannot be read. */
async function isRead(
  connection: Connection,
  { project, ...input }: { project: string; params: { id: string; docId: string }; signal: AbortSignal },
): Promise<boolean> {
  let item: DocumentItem;
  try {
    ({ item } = await connection.call("getDocument", project, input));
  } catch (error) {
    input.signal.throwIfAborted();
    if (error instanceof ServiceError && SIGNED_OUT.has(error.status)) throw error;
    // The server has the file: only the call is repeated.
    return error instanceof ServiceError && error.status === 404;
  }
  if (item.status === "failed") throw new ServiceError("invalid_request", item.error ?? "");
  return item.status === "ready";
}

/** The uploads to a knowledge base; `findKb` selects it when the first file is sent. */
export function useUploads(findKb: () => Promise<string>): UploadQueue {
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { t } = useTexts();
  const [queue] = useState(() => {
    const made: UploadQueue = createUploadQueue({
      async send(file, signal) {
        const kbId = await findKb();
        const { id } = await uploadFile(connection, { project, kbId, signal }, file);
        void queryClient.invalidateQueries({ queryKey: ["documents", project, kbId] });
        return { id: kbId, docId: id };
      },
      async read(params, signal) {
        while (!(await isRead(connection, { project, params, signal }))) {
          const count = made.uploads.get().filter(({ state }) => state === "reading").length;
          await pauseMs(Math.max(READ_POLL_MS, count * READ_PAUSE_MS));
        }
      },
      describe: (error) => describeError(error, t),
      refuse: ({ size }) => (size > FILE_MAX_BYTES ? t("upload.tooLarge") : size === 0 ? t("upload.empty") : null),
      onSent: () => void queryClient.invalidateQueries({ queryKey: ["kbs", project] }),
    });
    return made;
  });
  return queue;
}
