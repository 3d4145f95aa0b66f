import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Runs a shell line as soon as this process has ended, however it ended: SIGKILL and the workers that jest kills
 * included. It works because the shell waits for the end of its standard input, which only this process holds open.
 * `args` reach the line as $1, $2 and so on. Answers a function that calls it off. On Windows, which has no such
 * shell, nothing is guarded.
 */
export function guard(shellLine: string, args: string[]): () => void {
  if (process.platform === "win32") return () => undefined;
  const shell = spawn("sh", ["-c", `cat >/dev/null; ${shellLine}`, "guard", ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // A session of its own: Ctrl-C in the terminal must not end the guard together with what it guards.
    detached: true,
  });
  shell.unref();
  // The guard must not keep this process alive. A pipe of a child is a Socket in fact, if not by its type.
  (shell.stdin as Socket).unref();
  return () => void shell.kill("SIGKILL");
}
