import { localUrl } from "@svc/contracts";
import type { EarlyConfig } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";
import { judgeAbsence, judgeFailedProbe, silentCheck } from "./judge-absence.ts";
import type { RunningApps } from "./judge-absence.ts";

const TIMEOUT_MS = 3_000;

/** What answers at the console's address: a console, something else, something that does not respond, or nothing. */
async function probeConsole(url: string): Promise<"ours" | "other" | "silent" | "nothing"> {
  try {
    const answer = await fetch(`${url}/sign-in-ways`, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    return answer.ok && text.startsWith('{"ok":true,"password":true') ? "ours" : "other";
  } catch (error) {
    return judgeFailedProbe(error);
  }
}

/** Checks whether the operator console answers at its port, and says how the first administrator gets in. */
export async function checkConsole(
  { startWith, self }: Cli,
  { bindHost, ports }: Pick<EarlyConfig, "bindHost" | "ports">,
  store: Store,
  running: RunningApps,
): Promise<Check> {
  const url = localUrl(bindHost ?? "127.0.0.1", ports.console);
  const name = "Console";
  const hint = `; no operator has a password yet: ${self} operators link`;
  const isOpen = !(await store.operatorLinks.isFirstMissing());
  const advice = "Stop it, or choose another port with SVC_CONSOLE_PORT.";
  const found: Record<Awaited<ReturnType<typeof probeConsole>>, Check> = {
    ours: { name, status: "ok", detail: `${url} responds${isOpen ? "" : hint}` },
    other: { name, status: "fail", detail: `another program responds at ${url}`, advice },
    silent: silentCheck(name, url, advice),
    nothing: judgeAbsence({ name, app: "console", where: `at ${url}` }, running, { startWith }),
  };
  return found[await probeConsole(url)];
}
