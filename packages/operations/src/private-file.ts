import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "@svc/primitives";

/** The text of a file without its line break; null when there is none, or an empty one that a crash has left. */
export async function readPrivateFile(file: string): Promise<string | null> {
  try {
    const text = (await readFile(file, "utf8")).trim();
    return text === "" ? null : text;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes a file that only its owner can read, whole or not at all: when this resolves it is on the disk, and a crash
 * before that leaves what was there.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  await rename(draft, file);
  // Windows cannot open a folder; there the rename has to do.
  if (process.platform === "win32") return;
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
