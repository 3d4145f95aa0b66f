import { describeVanished } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Check } from "./check.ts";
import type { RunningApps } from "./judge-absence.ts";

/** Vanished processes that are reported in full, at most. */
const SHOWN = 3;

/** Says which processes run, and which have ended without a stop within the last day. */
export async function checkProcesses(
  processes: Pick<Store["processes"], "listVanished">,
  apps: RunningApps,
): Promise<Check> {
  const name = "Processes";
  const running = [...apps].map(([app, { count }]) => `${app} ${count}`);
  const detail = running.length === 0 ? "none running" : `running: ${running.join(", ")}`;
  const vanished = await processes.listVanished();
  if (vanished.length === 0) return { name, status: "ok", detail };
  const lines = vanished.slice(0, SHOWN).map(describeVanished);
  const more = vanished.length - lines.length;
  return {
    name,
    status: "warn",
    detail: [detail, ...lines, ...(more === 0 ? [] : [`and ${more} more within a day`])].join("\n"),
    advice:
      "Interrupted work is repeated. To find the cause: docker inspect --format '{{.State.OOMKilled}} {{.State.ExitCode}}' <container>, docker events or journalctl -k, and the last lines of the log.",
  };
}
