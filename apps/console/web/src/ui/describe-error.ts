import { ServiceError } from "@svc/client";
import type { Texts, TextKey } from "../i18n/texts.ts";

/** Texts for the codes of docs/errors.md, in the language of the page; most are followed by the server's detail. */
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

/** Returns a readable name of a field, without list indexes. */
const nameOf = (pointer: string): string =>
  pointer
    .split("/")
    .filter((part) => !/^\d*$/.test(part))
    .join(" ") || "–";

/** Describes an error: the text of its code, the server's detail, and each invalid field once. */
export function describeError(error: unknown, t: Texts["t"]): string {
  if (!(error instanceof ServiceError)) return t("error.unknown");
  const { code, detail, errors } = error;
  const key = CODES.get(code);
  const words = errors.reduce(
    (text, { pointer }) => (pointer === "" ? text : text.replaceAll(pointer, nameOf(pointer))),
    detail,
  );
  const text = key === undefined ? words : t(key, { detail: words });
  // The server's detail contains the first one.
  const others = errors.filter((one) => !text.includes(one.detail));
  return [text, ...others.map((one) => `${nameOf(one.pointer)}: ${one.detail}`)].join(" · ");
}

/** Errors of single sign-on, in the URL to which the server redirects the browser. */
const SSO_ERRORS: ReadonlyMap<string, TextKey> = new Map([
  ["unknown_operator", "signIn.ssoUnknown"],
  ["unavailable", "signIn.ssoAway"],
  ["rate_limited", "signIn.tooOften"],
  ["refused", "signIn.ssoFailed"],
]);

/** Returns the text for an error of single sign-on; a general one for an unknown error. */
export const describeSsoError = (error: string): TextKey => SSO_ERRORS.get(error) ?? "signIn.ssoFailed";
