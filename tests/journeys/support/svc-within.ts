import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { runCli } from "@svc/cli";
// Commands load these when they run, several at once, which jest's modules do not bear the first time.
import "@svc/operations";
import "@svc/runtime";
import { PATH, SVC_MAIN } from "./run-svc.ts";
import type { Ran } from "./run-svc.ts";

/** What a command is run with besides its words. */
export interface WithinOptions {
  /** Its whole environment but PATH. */
  env: Record<string, string>;
  /** The folder that it is run in. Default: the one for temporary files. */
  folder?: string;
  /** What is piped in, or typed where `isTTY`. Default: nothing. */
  typed?: string;
  isTTY?: boolean;
}

/**
 * Runs `svc` as its program does, within this process: for tests of what commands do, which need many of them. What is
 * said of the process (signals, pipes, its end) needs one of its own: `svc`.
 */
export async function runWithin(options: WithinOptions, ...args: string[]): Promise<Ran> {
  const { env, folder = tmpdir(), typed = "", isTTY = false } = options;
  const written = { stdout: "", stderr: "" };
  const code = await runCli(args, {
    env: { PATH, ...env },
    workingFolder: folder,
    program: SVC_MAIN,
    openInput: () => Object.assign(Readable.from([typed]), { isTTY }),
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
  });
  return { ...written, code };
}

/** As `runWithin`, where only the standard input differs from one command to the next. */
export const svcWithin = (env: Record<string, string>, input: string, ...args: string[]): Promise<Ran> =>
  runWithin({ env, typed: input }, ...args);
