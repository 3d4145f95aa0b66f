import type { UnreachableProvider } from "@svc/contracts";
import type { Texts } from "../i18n/create-texts.ts";
import type { TextKey } from "../i18n/text-table.ts";

/** Why the models of a server are missing, as the service writes it, and the texts that say the same. */
const ERRORS: readonly (readonly [RegExp, TextKey])[] = [
  [/^rejected the API key$/u, "models.error.key"],
  [/^returned (?:status )?(?<status>\d{3})(?: for the requested URL)?$/u, "models.error.status"],
  [/^rate-limited the request$/u, "models.error.rateLimited"],
  [/^did not respond in time$/u, "models.error.timeout"],
  [/^is unreachable(?: \((?<code>\w+)\))?$/u, "models.error.unreachable"],
  [/^(?:did not return JSON|returned more than \d+ MB)$/u, "models.error.response"],
];
/** The error, and the setting to check. */
const DETAIL = /^(?<error>.+)\. Check (?<setting>.+)\.$/su;

/** Returns why the models of a server are missing, and what to do, without the name of the server. */
export function describeServerError({ provider, detail }: UnreachableProvider, t: Texts["t"]): string {
  const own = detail.startsWith(`${provider} `) ? detail.slice(provider.length + 1) : detail;
  const { error = "", setting = "" } = DETAIL.exec(own)?.groups ?? {};
  for (const [pattern, key] of ERRORS) {
    const found = pattern.exec(error);
    if (found === null) continue;
    const { code, status = "" } = found.groups ?? {};
    const why = t(key, { status, code: code === undefined ? "" : ` (${code})` });
    return t("models.error.check", { why, setting });
  }
  return own;
}
