import { useState } from "react";
import { uploadFile } from "../api/kb.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";
import { createUploadQueue } from "./upload-queue.ts";
import type { UploadQueue } from "./upload-queue.ts";

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
      describe: (fault) => describeFault(fault, t),
      refuse: ({ size }) => (size > FILE_MAX_BYTES ? t("upload.tooLarge") : size === 0 ? t("upload.empty") : null),
      onSent: () => void queryClient.invalidateQueries({ queryKey: ["kbs", project] }),
    }),
  );
  return queue;
}
