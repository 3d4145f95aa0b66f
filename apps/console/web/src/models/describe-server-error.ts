import type { UnreachableProvider } from "@svc/contracts";
import type { Texts } from "../i18n/create-texts.ts";
import type { TextKey } from "../i18n/text-table.ts";

/** Why the models of a server are missing, as the service writes it, and the texts that say the same. */
const ERRORS: readonly (readonly [RegExp, TextKey])[] = [
  [/^rejects the API key$/u, "models.error.key"],
  [/^responds with (?<status>\d{3})(?: to the requested URL)?$/u, "models.error.status"],
  [/^rate-limits requests$/u, "models.error.rateLimited"],
  [/^did not respond in time$/u, "models.error.timeout"],
  [/^cannot be reached(?: \((?<code>\w+)\))?$/u, "models.error.unreachable"],
  [/^(?:does not respond with JSON|responds with more than \d+ MB)$/u, "models.error.response"],
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
