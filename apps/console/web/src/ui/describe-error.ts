import { ServiceFault } from "@svc/client";
import type { Texts, TextKey } from "../i18n/texts.ts";

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

/** A field as people would call it: its names, without the places in lists. */
const nameOf = (pointer: string): string =>
  pointer
    .split("/")
    .filter((part) => !/^\d*$/.test(part))
    .join(" ") || "–";

/** What went wrong, for people: what its code means, with the server's own words, and each field at fault once. */
export function describeFault(fault: unknown, t: Texts["t"]): string {
  if (!(fault instanceof ServiceFault)) return t("fault.unknown");
  const { code, detail, errors } = fault;
  const key = CODES.get(code);
  const words = errors.reduce(
    (text, { pointer }) => (pointer === "" ? text : text.replaceAll(pointer, nameOf(pointer))),
    detail,
  );
  const text = key === undefined ? words : t(key, { detail: words });
  // The server's own words name the first one.
  const others = errors.filter((one) => !text.includes(one.detail));
  return [text, ...others.map((one) => `${nameOf(one.pointer)}: ${one.detail}`)].join(" · ");
}

/** Why single sign-on did not work, as the server says it in the address that it sends the browser back to. */
const SSO_FAULTS: ReadonlyMap<string, TextKey> = new Map([
  ["unknown_operator", "signIn.ssoUnknown"],
  ["unavailable", "signIn.ssoAway"],
  ["rate_limited", "signIn.tooOften"],
  ["refused", "signIn.ssoFailed"],
]);

/** The text for a fault of single sign-on; the general one for a fault that is not known. */
export const describeSsoFault = (fault: string): TextKey => SSO_FAULTS.get(fault) ?? "signIn.ssoFailed";
