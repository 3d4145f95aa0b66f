import { isValidHeaderValue } from "@svc/client";
import { localUrl } from "@svc/contracts";
import type { EarlyConfig } from "@svc/runtime";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";
import { judgeAbsence, judgeFailedProbe, silentCheck } from "./judge-absence.ts";
import type { RunningApps } from "./judge-absence.ts";

const TIMEOUT_MS = 3_000;
const CALL = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** What answers at the tool server's address: this installation's, one that refuses the key, something else, or nothing. */
async function probeTools(
  url: string,
  key: string | null,
): Promise<"ours" | "stranger" | "other" | "silent" | "nothing"> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
        ...(key === null || !isValidHeaderValue(key) ? {} : { "X-Api-Key": key }),
      },
      body: CALL,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    const isProblem = answer.headers.get("content-type")?.startsWith("application/problem+json") === true;
    if (answer.status === 401 && isProblem) return key === null ? "ours" : "stranger";
    return answer.ok || (answer.status === 429 && isProblem) ? "ours" : "other";
  } catch (error) {
    return judgeFailedProbe(error);
  }
}

/** Checks whether the tool server answers at its port, and knows this installation's keys. */
export async function checkTools(
  { startWith }: Cli,
  { bindHost, ports }: Pick<EarlyConfig, "bindHost" | "ports">,
  key: string | null,
  running: RunningApps,
): Promise<Check> {
  const url = `${localUrl(bindHost ?? "127.0.0.1", ports.tools)}/mcp`;
  const name = "Tool server";
  const advice = "Stop it, or choose another port with SVC_TOOLS_PORT.";
  const found: Record<Awaited<ReturnType<typeof probeTools>>, Check> = {
    ours: { name, status: "ok", detail: `${url} responds` },
    stranger: {
      name,
      status: "fail",
      detail: `${url} belongs to another installation, or one with a different key`,
      advice,
    },
    other: { name, status: "fail", detail: `another program responds at ${url}`, advice },
    silent: silentCheck(name, url, advice),
    nothing: judgeAbsence({ name, app: "tool-server", where: `at ${url}` }, running, { startWith }),
  };
  return found[await probeTools(url, key)];
}
