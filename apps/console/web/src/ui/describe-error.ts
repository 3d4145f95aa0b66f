import { ServiceError } from "@svc/client";
import type { Texts, TextKey } from "../i18n/texts.ts";

/** What the codes of docs/errors.md mean, in the language of the page; most with the server's own words behind it. */
const CODES: ReadonlyMap<string, TextKey> = new Map([
  ["csrf_refused", "error.oldPage"],
  ["insufficient_scope", "error.noRight"],
  ["internal", "error.internal"],
  ["invalid_request", "error.invalid"],
  ["not_found", "error.notFound"],
  ["not_signed_in", "error.signedOut"],
  ["payload_too_large", "error.tooLarge"],
  ["project_mismatch", "error.noRight"],
  ["rate_limited", "error.tooMuch"],
  ["unavailable", "error.away"],
  ["busy", "error.away"],
  ["unexpected_answer", "error.stranger"],
  ["unreachable", "error.unreachable"],
  ["version_conflict", "error.changed"],
]);

/** A field as people would call it: its names, without the places in lists. */
const nameOf = (pointer: string): string =>
  pointer
    .split("/")
    .filter((part) => !/^\d*$/.test(part))
    .join(" ") || "–";

/** What went wrong, for people: what its code means, with the server's own words, and each field at error once. */
export function describeError(error: unknown, t: Texts["t"]): string {
  if (!(error instanceof ServiceError)) return t("error.unknown");
  const { code, detail, errors } = error;
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
const SSO_ERRORS: ReadonlyMap<string, TextKey> = new Map([
  ["unknown_operator", "signIn.ssoUnknown"],
  ["unavailable", "signIn.ssoAway"],
  ["rate_limited", "signIn.tooOften"],
  ["refused", "signIn.ssoFailed"],
]);

/** The text for an error of single sign-on; the general one for an error that is not known. */
export const describeSsoError = (error: string): TextKey => SSO_ERRORS.get(error) ?? "signIn.ssoFailed";
