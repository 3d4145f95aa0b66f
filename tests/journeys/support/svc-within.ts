import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { runCli } from "@svc/cli";
// Commands load these when they run, several at once, which jest's modules do not bear the first time.
import "@svc/operations";
import "@svc/runtime";
import { PATH, SVC_MAIN } from "./run-svc.ts";
import type { Ran } from "./run-svc.ts";

/**
 * Runs `svc` as its program does, within this process: for tests of what commands do, which need many of them. What is
 * said of the process (signals, pipes, its end) needs one of its own: `svc`.
 */
export async function svcWithin(env: Record<string, string>, input: string, ...args: string[]): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const code = await runCli(args, {
    env: { PATH, ...env },
    workingFolder: tmpdir(),
    program: SVC_MAIN,
    openInput: () => Object.assign(Readable.from([input]), { isTTY: false }),
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
  });
  return { ...written, code };
}
