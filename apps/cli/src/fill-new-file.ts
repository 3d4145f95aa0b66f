import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { Writable } from "node:stream";

/** What is written may be for its reader alone. */
const OWNER_ONLY = 0o600;

/**
 * Makes a file that only its owner can read, whole or not at all: `fill` writes to another name beside it, which takes the
 * file's place once it is on the disk, and is gone when anything breaks off. `fill` must end what it is given. Rejects with
 * `EEXIST` when there is a file of this name already, which stays as it was unless it may be replaced.
 */
export async function fillNewFile(
  file: string,
  { mayReplace }: { mayReplace: boolean },
  fill: (draft: Writable) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${randomUUID()}.part`;
  // Taking the name first refuses a file that is there before anything is read.
  if (!mayReplace) await (await open(file, "wx", OWNER_ONLY)).close();
  try {
    await fill(createWriteStream(draft, { flags: "wx", mode: OWNER_ONLY, flush: true }));
    await rename(draft, file);
  } catch (error) {
    await Promise.all([draft, ...(mayReplace ? [] : [file])].map((path) => rm(path, { force: true })));
    throw error;
  }
}
