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
