import { errorCode } from "@svc/primitives";
import type { RunningCount } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

/** How many processes of each app run, by its name. */
export type RunningApps = ReadonlyMap<string, Pick<RunningCount, "count" | "elsewhere">>;

/** Codes of connections to an address where nothing listens. */
const NOTHING_LISTENS = new Set(["ECONNREFUSED", "EADDRNOTAVAIL", "EHOSTUNREACH", "ENETUNREACH"]);

/** What a failed request says about its address. Throws errors that are not about the request. */
export function judgeFailedProbe(error: unknown): "nothing" | "silent" | "other" {
  if (error instanceof DOMException) return "silent";
  if (!(error instanceof TypeError)) throw error;
  const { cause } = error;
  const code = errorCode(cause);
  return code !== undefined && NOTHING_LISTENS.has(code) ? "nothing" : "other";
}

/** A failed check for an address where something listens and does not respond. */
export function silentCheck(name: string, url: string, advice: string): Check {
  const detail = `the server at ${url} does not respond: another program, or a process of this product that hangs`;
  return { name, status: "fail", detail, advice };
}

/**
 * What it means that an app does not answer at its address on this machine: in containers, each app has a machine of its
 * own. One that runs on this very machine should answer.
 */
export function judgeAbsence(
  { name, app, where }: { name: string; app: string; where: string },
  running: RunningApps,
  { startWith }: Pick<Cli, "startWith">,
): Check {
  const count = running.get(app)?.elsewhere ?? 0;
  if (count === 0)
    return { name, status: "warn", detail: `is not running ${where}`, advice: `Start it with: ${startWith}` };
  const detail = `running elsewhere, in ${count === 1 ? "one process" : `${count} processes`}; not ${where}`;
  return { name, status: "ok", detail };
}
