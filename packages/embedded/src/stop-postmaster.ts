import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@svc/primitives";
import { EmbeddedPostgresError } from "./errors.ts";
import type { PostgresBinaries } from "./find-binaries.ts";
import { isStillRunning } from "./identify-process.ts";
import type { ProcessIdentity } from "./identify-process.ts";
import { runTool } from "./run-tool.ts";

/** A fast shutdown ends sessions and writes a checkpoint; this leaves a second for the last resort within five. */
const FAST_SHUTDOWN_MS = 4000;
const IMMEDIATE_SHUTDOWN_MS = 5000;
const POLL_MS = 20;

/**
 * Stops a server: SIGINT (fast shutdown, nothing is lost), and after four seconds SIGQUIT (immediate shutdown, the
 * next start recovers from the log, nothing committed is lost). Resolves when the process is gone, also when it was
 * gone before. Never SIGKILL, which would leave its children behind.
 *
 * Throws EmbeddedPostgresError `stop_failed` when the process outlives both.
 */
export async function stopPostmaster(identity: ProcessIdentity, binaries: PostgresBinaries): Promise<void> {
  await signal(identity, "INT", binaries);
  if (await isGoneWithin(identity, FAST_SHUTDOWN_MS)) return;
  await signal(identity, "QUIT", binaries);
  if (await isGoneWithin(identity, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresError(
    "stop_failed",
    `PostgreSQL (process ${identity.pid}) does not stop; its disk may hang. Check that process before the next start.`,
  );
}

/** Resolves when the process is gone, looking again and again; for servers that are not our children. */
export async function waitUntilGone(identity: ProcessIdentity, pollMs: number): Promise<void> {
  while (await isStillRunning(identity)) await delay(pollMs);
}

async function signal(identity: ProcessIdentity, name: "INT" | "QUIT", binaries: PostgresBinaries): Promise<void> {
  if (!(await isStillRunning(identity))) return;
  if (process.platform === "win32") {
    // Windows has no signals; pg_ctl speaks to the server through a pipe.
    await runTool(binaries.pgCtl, ["kill", name, String(identity.pid)], { cwd: binaries.nativeDir, account: null });
    return;
  }
  try {
    process.kill(identity.pid, `SIG${name}`);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

async function isGoneWithin(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isStillRunning(identity)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
