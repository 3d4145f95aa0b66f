import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { runCli } from "@svc/cli";
// Commands import these dynamically and concurrently, which jest's module loader does not support for the first import.
import "@svc/operations";
import "@svc/runtime";
import { PATH, SVC_MAIN } from "./run-svc.ts";
import type { Ran } from "./run-svc.ts";

/** Options of a command besides its arguments. */
export interface WithinOptions {
  /** Its whole environment except PATH. */
  env: Record<string, string>;
  /** Its working directory. Default: the folder for temporary files. */
  folder?: string;
  /** Standard input, typed if `isTTY`. Default: none. */
  typed?: string;
  isTTY?: boolean;
}

/**
 * Runs `svc` like its program, within this process: for tests of many commands. Tests of the process itself (signals,
 * pipes, exit) need a separate process: `svc`.
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

/** Like `runWithin`, if only the standard input differs between commands. */
export const svcWithin = (env: Record<string, string>, input: string, ...args: string[]): Promise<Ran> =>
  runWithin({ env, typed: input }, ...args);
