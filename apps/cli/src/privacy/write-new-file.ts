import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** What is written may be for its reader alone. */
const OWNER_ONLY = 0o600;

/**
 * Writes a text to a file that only its owner can read, whole or not at all: when the text breaks off, no file is left.
 * Rejects with `EEXIST` when there is a file of this name already, which stays as it was.
 */
export async function writeNewFile(file: string, pieces: AsyncIterable<string>): Promise<void> {
  const draft = `${file}.${randomUUID()}.part`;
  // Taking the name first refuses a file that is there before anything is read.
  const name = await open(file, "wx", OWNER_ONLY);
  try {
    await name.close();
    await pipeline(Readable.from(pieces), createWriteStream(draft, { flags: "wx", mode: OWNER_ONLY, flush: true }));
    await rename(draft, file);
  } catch (error) {
    await Promise.all([draft, file].map((path) => rm(path, { force: true })));
    throw error;
  }
}
