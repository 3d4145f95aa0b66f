import { cleanFileName, sniffMime } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { AttachmentRef } from "@svc/contracts";
import { messageFileIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { BotApiError } from "../telegram/bot-api-error.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { cleanLine } from "./clean-text.ts";
import type { Content, FileRef } from "./update-schema.ts";

/** A file of a message that is to be fetched. */
export interface WantedFile {
  fileId: string;
  /** The same whenever the same file is sent; null where Telegram does not say. */
  uniqueId: string | null;
  /** As its sender calls it, or what it is; not cleaned. */
  name: string;
  /** As Telegram says; null where it does not. */
  sizeBytes: number | null;
}

/** More than any id of Telegram has. */
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

/** A photo comes in several sizes; the largest one is the photo. */
function largest(photos: readonly FileRef[] = []): FileRef | undefined {
  const area = ({ width = 0, height = 0 }: FileRef) => width * height;
  return photos.toSorted((one, other) => area(one) - area(other)).at(-1);
}

/** The name of a piece of music where it has none of its own. */
function titleOf({ performer, title }: { performer?: string | undefined; title?: string | undefined } = {}): string {
  const known = [performer, title].filter((part) => part !== undefined && part.trim() !== "");
  return known.length === 0 ? "audio.mp3" : `${known.join(" - ")}.mp3`;
}

/** The files that a message carries, each once. */
export function listFiles(content: Content): WantedFile[] {
  // An animation comes as a document besides.
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

/** Runs a piece of work once there is a place for it; those that wait get theirs in their order. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Makes a gate that lets so many pieces of work run at once. */
export function createGate(positions: number): Gate {
  const waiting: (() => void)[] = [];
  let free = positions;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot passes directly to the next waiter.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** Telegram lets bots fetch no larger ones; a server of one's own would, but each is held in memory here. */
const FILE_MAX_BYTES = 20 * 1024 * 1024;

/** A file as `channelMeta.telegram.files` names it. */
interface KeptFileMeta {
  name: string;
  type: string;
  sizeBytes: number;
  /** What Telegram calls the file wherever it is sent. */
  uniqueId?: string;
}

/** What became of the files of a message. */
interface KeptFiles {
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
