import { readFile } from "node:fs/promises";
import { errorCode } from "@svc/primitives";

/** A live process; `startMark` tells it from a later process with the same pid, null where the system cannot say. */
export type ProcessIdentity = { pid: number; startMark: string | null };

/** In proc(5), "starttime" is field 22 and "state" is field 3, the first one after the command in parentheses. */
const START_TIME_AFTER_STATE = 19;

/**
 * Says which process has this pid now, or null when none is running. A zombie counts as gone: it holds nothing any
 * more, and in a container nobody may ever reap it. On Linux the mark is the boot id with the start time in ticks;
 * elsewhere it is null.
 */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  const presence = probePid(pid);
  if (presence === "gone") return null;
  if (process.platform !== "linux") return { pid, startMark: null };
  const stat = await readProcFile(`/proc/${pid}/stat`);
  // A /proc mounted with hidepid hides the processes of other users, which kill(2) still tells us to be alive.
  if (stat === null) return presence === "foreign" ? { pid, startMark: null } : null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return null;
  const bootId = await readProcFile("/proc/sys/kernel/random/boot_id");
  return { pid, startMark: `${bootId?.trim() ?? "unknown-boot"}:${fields[START_TIME_AFTER_STATE] ?? ""}` };
}

/** Whether the recorded process still runs; a process that got its pid later is another one. */
export async function isStillRunning(recorded: ProcessIdentity): Promise<boolean> {
  const current = await identifyProcess(recorded.pid);
  if (current === null) return false;
  if (current.startMark === null || recorded.startMark === null) return true;
  return current.startMark === recorded.startMark;
}

function probePid(pid: number): "ours" | "foreign" | "gone" {
  try {
    process.kill(pid, 0);
    return "ours";
  } catch (error) {
    if (errorCode(error) === "EPERM") return "foreign";
    if (errorCode(error) === "ESRCH") return "gone";
    throw error;
  }
}

async function readProcFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // A process may end between opening and reading its file, which gives ESRCH.
    if (["ENOENT", "ESRCH", "EACCES"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}
