import { cleanFileName, sniffMime } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { AttachmentRef } from "@svc/contracts";
import { messageFileIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { BotApiError } from "../telegram/bot-api-error.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import type { Gate } from "./create-gate.ts";
import type { WantedFile } from "./list-files.ts";

/** Telegram lets bots fetch no larger ones; a server of one's own would, but each is held in memory here. */
export const FILE_MAX_BYTES = 20 * 1024 * 1024;

/** A file as `channelMeta.telegram.files` names it. */
export interface KeptFileMeta {
  name: string;
  type: string;
  sizeBytes: number;
  /** What Telegram calls the file wherever it is sent. */
  uniqueId?: string;
}

/** What became of the files of a message. */
export interface KeptFiles {
  attachments: AttachmentRef[];
  meta: KeptFileMeta[];
  /** A line for each file that is not kept, with the reason. */
  missing: string[];
}

/** Failures of the Bot API that say that this file cannot be had, now or later. */
const FINAL: readonly BotApiError["kind"][] = ["bad_request", "forbidden"];

/**
 * Fetches the files of a message and keeps them in the store, before the message is committed; safe to repeat, and what is
 * kept already is not fetched again. What is too large, refused, or more than a chat may send in a day is named in
 * `missing`. Files go through `gate` one by one, since each is held in memory. Rejects while the Bot API or the store is away; with `givesUp` a file that does not come is missing as well.
 */
export async function keepFiles(
  { store, api, gate }: { store: Pick<Store, "widgetFiles">; api: Pick<BotApi, "download">; gate: Gate },
  message: { project: ProjectId; ticketId: string; messageId: string },
  files: readonly WantedFile[],
  { givesUp, signal }: { givesUp: boolean; signal: AbortSignal },
): Promise<KeptFiles> {
  const result: KeptFiles = { attachments: [], meta: [], missing: [] };
  const { project, ticketId, messageId } = message;
  for (const [index, file] of files.entries()) {
    const filename = cleanFileName(file.name);
    const id = messageFileIdOf(messageId, index);
    const outcome =
      (await store.widgetFiles.findKept(project, messageId, id)) ?? (await gate(() => fetchOne(file, id, filename)));
    if (typeof outcome === "string") {
      result.missing.push(`[File not stored: ${filename}, ${outcome}]`);
      continue;
    }
    const { mime, sizeBytes } = outcome;
    const url = `/api/v1/admin/tickets/${ticketId}/files/${id}`;
    result.attachments.push({ type: mime, url, name: filename });
    result.meta.push({
      name: filename,
      type: mime,
      sizeBytes,
      ...(file.uniqueId === null ? {} : { uniqueId: file.uniqueId }),
    });
  }
  return result;

  /** The file as it is kept, or why it is not. */
  async function fetchOne(
    { fileId, sizeBytes }: WantedFile,
    id: string,
    filename: string,
  ): Promise<{ mime: string; sizeBytes: number } | string> {
    if (sizeBytes !== null && sizeBytes > FILE_MAX_BYTES) return "larger than 20 MB";
    let content: Buffer;
    try {
      content = await api.download(fileId, { maxBytes: FILE_MAX_BYTES, signal });
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error;
      if (error.kind === "too_large") return "larger than 20 MB";
      if (FINAL.includes(error.kind)) return "not available from Telegram";
      if (givesUp && !signal.aborted) return "download failed";
      throw error;
    }
    const mime = sniffMime(content);
    try {
      await store.widgetFiles.keep(project, { id, messageId, ticketId, filename, mime, content });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "storage_full") return "storage limit reached";
      throw error;
    }
    return { mime, sizeBytes: content.length };
  }
}
