import { errorCode } from "@svc/primitives";
import type { RunningCount } from "@svc/store";
import type { Cli } from "../cli.ts";

/** The result of one check. */
export interface Check {
  /** Subject of the check, in one to three words. */
  name: string;
  /** `warn`: it works, but not permanently or not for everyone. `fail`: it does not work. */
  status: "ok" | "warn" | "fail";
  detail: string;
  /** What to do; beside `ok`, a hint. */
  advice?: string;
}

const resultOf =
  (status: Check["status"]) =>
  (name: string, detail: string, advice?: string): Check => ({
    name,
    status,
    detail,
    ...(advice === undefined ? {} : { advice }),
  });

/** Returns a passed check; the advice is a hint. */
export const ok = resultOf("ok");
/** Returns a check with a warning. */
export const warn = resultOf("warn");
/** Returns a failed check. */
export const fail = resultOf("fail");

/** Numbers of running processes by the name of their app. */
export type RunningApps = ReadonlyMap<string, Pick<RunningCount, "count" | "elsewhere">>;

const TIMEOUT_MS = 3_000;

/** Error codes of connections to an address where nothing listens. */
const NOTHING_LISTENS = new Set(["ECONNREFUSED", "EADDRNOTAVAIL", "EHOSTUNREACH", "ENETUNREACH"]);

/**
 * The program at an address: this installation, another one, another program, one that does not respond, or nothing.
 */
type ProbeResult = "ours" | "stranger" | "other" | "silent" | "nothing";

/** Requests an address and returns what is there; `judge` decides by the response. */
export async function probe(
  url: string,
  init: RequestInit,
  judge: (response: Response) => ProbeResult | Promise<ProbeResult>,
): Promise<ProbeResult> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const result = await judge(response);
    if (!response.bodyUsed) await response.body?.cancel();
    return result;
  } catch (error) {
    return judgeFailedProbe(error);
  }
}

/** Returns what a failed request says about its address. Throws errors that are not about the request. */
export function judgeFailedProbe(error: unknown): "nothing" | "silent" | "other" {
  if (error instanceof DOMException) return "silent";
  if (!(error instanceof TypeError)) throw error;
  const { cause } = error;
  const code = errorCode(cause);
  return code !== undefined && NOTHING_LISTENS.has(code) ? "nothing" : "other";
}

/** An app that listens at an address, with its texts. */
interface ProbedApp {
  name: string;
  app: string;
  url: string;
  /** The setting of its port. */
  portSetting: string;
  /** Detail if it is this installation's. */
  ours: string;
  /** Detail if it is another program; has a default. */
  other?: string;
}

/** Returns the check of an app by what is at its address. */
export function judgeProbe(
  { name, app, url, portSetting, ours, other }: ProbedApp,
  result: ProbeResult,
  running: RunningApps,
  cli: Pick<Cli, "startWith">,
): Check {
  const advice = `Stop it, or choose another port with ${portSetting}.`;
  const results: Record<ProbeResult, () => Check> = {
    ours: () => ok(name, ours),
    stranger: () => fail(name, `${url} belongs to another installation, or one with a different key`, advice),
    other: () => fail(name, other ?? `another program responds at ${url}`, advice),
    silent: () => {
      const detail = `the server at ${url} does not respond: another program, or a process of this product that hangs`;
      return fail(name, detail, advice);
    },
    nothing: () => judgeAbsence({ name, app, where: `at ${url}` }, running, cli),
  };
  return results[result]();
}

/**
 * Returns the check of an app that does not respond at its address on this machine. In containers, each app has a machine
 * of its own; one that runs on this machine should respond.
 */
export function judgeAbsence(
  { name, app, where }: { name: string; app: string; where: string },
  running: RunningApps,
  { startWith }: Pick<Cli, "startWith">,
): Check {
  const count = running.get(app)?.elsewhere ?? 0;
  if (count === 0) return warn(name, `is not running ${where}`, `Start it with: ${startWith}`);
  return ok(name, `running elsewhere, in ${count === 1 ? "one process" : `${count} processes`}; not ${where}`);
}
