import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Runs a shell line as soon as this process has ended, even by SIGKILL. The shell waits for the end of its standard
 * input, which only this process keeps open. `args` are $1, $2 and so on. Returns a function that cancels it. Does
 * nothing on Windows, which has no such shell.
 */
export function guard(shellLine: string, args: string[]): () => void {
  if (process.platform === "win32") return () => undefined;
  const shell = spawn("sh", ["-c", `cat >/dev/null; ${shellLine}`, "guard", ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // Its own session: Ctrl-C in the terminal must not end the guard together with what it guards.
    detached: true,
  });
  shell.unref();
  // The guard must not keep this process alive. A child's pipe is a Socket, although its type does not say so.
  (shell.stdin as Socket).unref();
  return () => void shell.kill("SIGKILL");
}
