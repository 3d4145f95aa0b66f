import { ServiceFault } from "@svc/client";
import type { Texts } from "../i18n/create-texts.ts";
import type { TextKey } from "../i18n/text-table.ts";

/** What the codes of docs/errors.md mean, in the language of the page; most with the server's own words behind it. */
const CODES: ReadonlyMap<string, TextKey> = new Map([
  ["csrf_refused", "fault.oldPage"],
  ["insufficient_scope", "fault.noRight"],
  ["internal", "fault.internal"],
  ["invalid_request", "fault.invalid"],
  ["not_found", "fault.notFound"],
  ["not_signed_in", "fault.signedOut"],
  ["payload_too_large", "fault.tooLarge"],
  ["project_mismatch", "fault.noRight"],
  ["rate_limited", "fault.tooMuch"],
  ["unavailable", "fault.away"],
  ["unexpected_answer", "fault.stranger"],
  ["unreachable", "fault.unreachable"],
  ["version_conflict", "fault.changed"],
]);

/** What went wrong, for people: what its code means, with the server's own words and every field that is at fault. */
export function describeFault(fault: unknown, t: Texts["t"]): string {
  if (!(fault instanceof ServiceFault)) return t("fault.unknown");
  const { code, detail, errors } = fault;
  const key = CODES.get(code);
  const fields = errors.map(({ pointer, detail: words }) => `${pointer.replace(/^\//, "") || "–"}: ${words}`);
  return [key === undefined ? detail : t(key, { detail }), ...fields].join(" · ");
}
