import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorMessage } from "@svc/primitives";
import { CliError, EXIT } from "./cli.ts";
import type { Terminal } from "./terminal.ts";

/** Only the owner may read the file. */
const OWNER_ONLY = 0o600;

/**
 * Creates a file that only its owner can read, complete or not at all: `fill` writes to a temporary name beside it,
 * which is renamed once it is on the disk, and deleted on any error. `fill` must close what it opens. Rejects with
 * `EEXIST` if the file exists, which is not changed unless it may be replaced.
 */
export async function fillNewFile(
  file: string,
  { mayReplace }: { mayReplace: boolean },
  fill: (draft: Writable) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${randomUUID()}.part`;
  // Reserving the name first rejects an existing file before anything is read.
  if (!mayReplace) await (await open(file, "wx", OWNER_ONLY)).close();
  try {
    await fill(createWriteStream(draft, { flags: "wx", mode: OWNER_ONLY, flush: true }));
    await rename(draft, file);
  } catch (error) {
    await Promise.all([draft, ...(mayReplace ? [] : [file])].map((path) => rm(path, { force: true })));
    throw error;
  }
}

/**
 * Writes a text to a file that only its owner can read, complete or not at all. Rejects with `EEXIST` if the file
 * exists, which is not changed.
 */
export async function writeNewFile(file: string, pieces: AsyncIterable<string>): Promise<void> {
  await fillNewFile(file, { mayReplace: false }, (draft) => pipeline(Readable.from(pieces), draft));
}

/**
 * Outputs a secret to the user or program that runs a command, and returns what to show for it. On a terminal, and in
 * the document of `--json`, that is the secret itself. Otherwise standard output may be the log of a service or CI
 * job: then the secret is only written to `file`, which only its owner can read (mode 600), and the path is shown.
 * Throws CliError `no_place_for_secret` if that file cannot be written.
 */
export async function handOutSecret(
  terminal: Pick<Terminal, "isJson" | "isInteractive">,
  secret: string,
  file: string,
): Promise<{ shown: string; isInFile: boolean }> {
  if (terminal.isInteractive || terminal.isJson) return { shown: secret, isInFile: false };
  const path = resolve(file);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const { writePrivateFile } = await import("@svc/operations");
    await writePrivateFile(path, secret);
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new CliError(
      "no_place_for_secret",
      EXIT.configuration,
      `Standard output is not a terminal, so the secret is written to a file, which failed (${reason}). ` +
        "Run this command in a terminal, choose a folder with SVC_DATA_DIR, set SVC_ADMIN_KEY, or use --json.",
      { cause },
    );
  }
  return { shown: path, isInFile: true };
}
