import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { writePrivateFile } from "@svc/operations";
import { errorMessage } from "@svc/primitives";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Hands a secret to the person or program that runs a command, and returns what to show for it. On a terminal, and in the
 * document of `--json`, which a program asked for, that is the secret itself. Elsewhere standard output may be the log
 * of a service or of a CI job: there the secret is only written to `file`, which its owner alone can read (mode 600), and
 * the path is shown. Throws CliError `no_place_for_secret` where that file cannot be written.
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
