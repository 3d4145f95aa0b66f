import { cleanFileName, sniffMime } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { AttachmentRef } from "@svc/contracts";
import type { Gate } from "@svc/primitives";
import { messageFileIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { BotApiError } from "../telegram/bot-api.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { cleanLine } from "./update-schema.ts";
import type { Content, FileRef } from "./update-schema.ts";

/** A file of a message to download. */
export interface WantedFile {
  fileId: string;
  /** Telegram's ID of the file, the same whenever it is sent; null if Telegram does not report one. */
  uniqueId: string | null;
  /** Name given by the sender, or a description; not cleaned. */
  name: string;
  /** Size reported by Telegram; null if it reports none. */
  sizeBytes: number | null;
}

/** Longer than any ID of Telegram. */
const ID_CHARS = 200;

const named = (ref: FileRef | undefined, name: string): WantedFile[] =>
  ref === undefined
    ? []
    : [
        {
          fileId: ref.file_id,
          uniqueId: ref.file_unique_id === undefined ? null : cleanLine(ref.file_unique_id, ID_CHARS),
          name: ref.file_name ?? name,
          sizeBytes: ref.file_size ?? null,
        },
      ];

/** Returns the largest of the sizes in which Telegram sends a photo. */
function largest(photos: readonly FileRef[] = []): FileRef | undefined {
  const area = ({ width = 0, height = 0 }: FileRef) => width * height;
  return photos.toSorted((one, other) => area(one) - area(other)).at(-1);
}

/** Returns the name of an audio file that has no file name. */
function titleOf({ performer, title }: { performer?: string | undefined; title?: string | undefined } = {}): string {
  const known = [performer, title].filter((part) => part !== undefined && part.trim() !== "");
  return known.length === 0 ? "audio.mp3" : `${known.join(" - ")}.mp3`;
}

/** Returns the files of a message, each once. */
export function listFiles(content: Content): WantedFile[] {
  // Telegram also sends an animation as a document.
  const document = content.animation === undefined ? content.document : undefined;
  return [
    ...named(largest(content.photo), "photo.jpg"),
    ...named(content.animation, "animation.mp4"),
    ...named(document, "document"),
    ...named(content.audio, titleOf(content.audio)),
    ...named(content.voice, "voice.ogg"),
    ...named(content.video, "video.mp4"),
    ...named(content.video_note, "video.mp4"),
  ];
}

/** The Bot API's limit for downloads. A self-hosted server has none, but each file is held in memory here. */
const FILE_MAX_BYTES = 20 * 1024 * 1024;

/** A file as `channelMeta.telegram.files` names it. */
interface StoredFileMeta {
  name: string;
  type: string;
  sizeBytes: number;
  /** Telegram's ID of the file, the same for every sender and message. */
  uniqueId?: string;
}

/** Result of storing the files of a message. */
interface StoredFiles {
  attachments: AttachmentRef[];
  meta: StoredFileMeta[];
  /** One line with the reason for each file that was not stored. */
  missing: string[];
}

/** Errors of the Bot API after which this file can never be downloaded. */
const FINAL: readonly BotApiError["kind"][] = ["bad_request", "forbidden"];

/**
 * Downloads the files of a message and stores them before the message is committed. Safe to repeat: stored files are
 * not downloaded again. Files that are too large, that Telegram rejects, or that exceed the daily limit of a chat are
 * listed in `missing`. Downloads go through `gate` one by one, since each file is held in memory. Rejects while the
 * Bot API or the store is unavailable; with `givesUp`, a file whose download fails is listed in `missing` instead.
 */
export async function storeFiles(
  { store, api, gate }: { store: Pick<Store, "widgetFiles">; api: Pick<BotApi, "download">; gate: Gate },
  message: { project: ProjectId; ticketId: string; messageId: string },
  files: readonly WantedFile[],
  { givesUp, signal }: { givesUp: boolean; signal: AbortSignal },
): Promise<StoredFiles> {
  const result: StoredFiles = { attachments: [], meta: [], missing: [] };
  const { project, ticketId, messageId } = message;
  for (const [index, file] of files.entries()) {
    const filename = cleanFileName(file.name);
    const id = messageFileIdOf(messageId, index);
    const outcome =
      (await store.widgetFiles.findOfMessage(project, messageId, id)) ??
      (await gate(() => fetchOne(file, id, filename)));
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

  /** Returns the stored file, or the reason why it is not stored. */
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
      await store.widgetFiles.insertForMessage(project, { id, messageId, ticketId, filename, mime, content });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "storage_full") return "storage limit reached";
      throw error;
    }
    return { mime, sizeBytes: content.length };
  }
}
