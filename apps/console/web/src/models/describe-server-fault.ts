import type { UnreachableProvider } from "@svc/contracts";
import type { Texts } from "../i18n/create-texts.ts";
import type { TextKey } from "../i18n/text-table.ts";

/** Why the models of a server are missing, as the service writes it, and the texts that say the same. */
const FAULTS: readonly (readonly [RegExp, TextKey])[] = [
  [/^rejects the API key$/u, "models.fault.key"],
  [/^responds with (?<status>\d{3})(?: to the requested URL)?$/u, "models.fault.status"],
  [/^rate-limits requests$/u, "models.fault.rateLimited"],
  [/^did not respond in time$/u, "models.fault.timeout"],
  [/^cannot be reached(?: \((?<code>\w+)\))?$/u, "models.fault.unreachable"],
  [/^(?:does not respond with JSON|responds with more than \d+ MB)$/u, "models.fault.response"],
];
/** The fault, and the setting to check. */
const DETAIL = /^(?<fault>.+)\. Check (?<setting>.+)\.$/su;

/** Returns why the models of a server are missing, and what to do, without the name of the server. */
export function describeServerFault({ provider, detail }: UnreachableProvider, t: Texts["t"]): string {
  const own = detail.startsWith(`${provider} `) ? detail.slice(provider.length + 1) : detail;
  const { fault = "", setting = "" } = DETAIL.exec(own)?.groups ?? {};
  for (const [pattern, key] of FAULTS) {
    const found = pattern.exec(fault);
    if (found === null) continue;
    const { code, status = "" } = found.groups ?? {};
    const why = t(key, { status, code: code === undefined ? "" : ` (${code})` });
    return t("models.fault.check", { why, setting });
  }
  return own;
}
