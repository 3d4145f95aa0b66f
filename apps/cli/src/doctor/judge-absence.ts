import type { RunningCount } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

/** How many processes of each app run, by its name. */
export type RunningApps = ReadonlyMap<string, Pick<RunningCount, "count" | "elsewhere">>;

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
    return { name, status: "warn", detail: `does not run ${where}`, advice: `Start it with: ${startWith}` };
  const detail = `runs elsewhere, in ${count === 1 ? "one process" : `${count} processes`}; not ${where}`;
  return { name, status: "ok", detail };
}
