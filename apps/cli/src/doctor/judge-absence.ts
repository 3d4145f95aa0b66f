import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

/** How many processes of each app run, wherever they do. */
export type RunningApps = ReadonlyMap<string, number>;

/** What it means that an app does not answer at its address on this machine: in containers, each app has a machine of its own. */
export function judgeAbsence(
  { name, app, where }: { name: string; app: string; where: string },
  running: RunningApps,
  { startWith }: Pick<Cli, "startWith">,
): Check {
  const count = running.get(app) ?? 0;
  if (count === 0)
    return { name, status: "warn", detail: `does not run ${where}`, advice: `Start it with: ${startWith}` };
  const detail = `runs elsewhere, in ${count === 1 ? "one process" : `${count} processes`}; not ${where}`;
  return { name, status: "ok", detail };
}
