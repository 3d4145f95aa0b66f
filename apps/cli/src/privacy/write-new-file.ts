import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fillNewFile } from "../fill-new-file.ts";

/**
 * Writes a text to a file that only its owner can read, whole or not at all: when the text breaks off, no file is left.
 * Rejects with `EEXIST` when there is a file of this name already, which stays as it was.
 */
export async function writeNewFile(file: string, pieces: AsyncIterable<string>): Promise<void> {
  await fillNewFile(file, { mayReplace: false }, (draft) => pipeline(Readable.from(pieces), draft));
}
