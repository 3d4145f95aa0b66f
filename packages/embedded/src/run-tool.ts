import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { PostgresAccount } from "./postgres-account.ts";

/** How a program ended, with all that it wrote to stdout and stderr. */
export type ToolResult = { code: number | null; output: string };

/** Where and as whom a program of Postgres runs. */
export type ToolOptions = { cwd: string; account: PostgresAccount; input?: string };

/**
 * Runs a program of Postgres to its end. Rejects with the system's error when it cannot be started at all (ENOENT,
 * EACCES, EPERM); a failure of the program itself is in `code`.
 */
export async function runTool(program: string, args: string[], options: ToolOptions): Promise<ToolResult> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: postgresEnvironment(),
    stdio: ["pipe", "pipe", "pipe"],
    // In a group of its own, Ctrl-C in the terminal does not cut it short: the owner decides when to stop.
    detached: true,
    windowsHide: true,
    ...options.account,
  });
  // A program that ends before it has read its input breaks the pipe; its exit code tells what happened.
  child.stdin.on("error", () => child.stdin.destroy());
  child.stdin.end(options.input ?? "");
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, output: stdout + stderr };
}

/**
 * The environment of every Postgres program. Variables of the user's own Postgres (PGDATA, PGPORT) and a locale that
 * does not exist here would change or prevent the start, so only what the system itself needs is passed on.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const passedOn = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "windir"];
  const inherited = passedOn.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), LC_ALL: "C", TZ: "UTC" };
}
