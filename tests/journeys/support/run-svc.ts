import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";
import { findProgram, repositoryPath } from "@svc/testing";

/** The built command line. */
export const SVC_BUILD = repositoryPath("apps/cli/dist/main.js");
/** The command line as one file, which starts in half the time. */
export const SVC_MAIN = await findProgram("cli");

/** The PATH of child processes. */
export const PATH = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
const COMMAND_TIMEOUT_MS = 60_000;

/** Exit code and output of a program. */
export interface Ran {
  stdout: string;
  stderr: string;
  code: number | null;
}

/** Options of a program besides its arguments: its whole environment except PATH, its folder, its standard input. */
export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  input?: string;
  /** It is killed after this time. Default: a minute. */
  timeoutMs?: number;
}

/** Runs a program to its end, without this test's environment. */
export function run(
  command: string,
  args: string[],
  { env = {}, cwd = tmpdir(), input = "", timeoutMs = COMMAND_TIMEOUT_MS }: RunOptions = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      command,
      args,
      { env: { PATH, ...env }, cwd, timeout: timeoutMs, killSignal: "SIGKILL" },
      (_, stdout, stderr) => resolve({ stdout, stderr, code: child.exitCode }),
    );
    // A program that reads no input may end before it is written.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

/** Runs `svc` with these arguments. */
export const svc = (env: Record<string, string>, ...args: string[]): Promise<Ran> =>
  run(process.execPath, [SVC_MAIN, ...args], { env });

/** Runs `svc` with these arguments and this standard input. */
export const svcWithInput = (env: Record<string, string>, input: string, ...args: string[]): Promise<Ran> =>
  run(process.execPath, [SVC_MAIN, ...args], { env, input });

/** Runs `svc` with `--json` and returns its only document. */
export async function svcJson(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ document: unknown; code: number | null }> {
  return documentOf(await svc(env, ...args, "--json"), args);
}

/** Returns the only document of a command with `--json`. Throws if it wrote anything else. */
export function documentOf({ stdout, stderr, code }: Ran, args: readonly string[]) {
  try {
    return { document: JSON.parse(stdout) as unknown, code };
  } catch (error) {
    throw new Error(`${args.join(" ")} --json wrote no document: ${stdout}\n${stderr}`, { cause: error });
  }
}
