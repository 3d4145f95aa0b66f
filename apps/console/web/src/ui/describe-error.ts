import { ServiceError } from "@svc/client";
import type { Texts, TextKey } from "../i18n/texts.ts";
import { describeRule, describeSentence } from "./describe-detail.ts";

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
  const sentence = describeSentence(detail, t);
  if (sentence !== null) return sentence;
  const rules = errors.map((one) => ({ ...one, text: describeRule(one.detail, t) }));
  if (rules.length > 0 && rules.every((one) => one.text !== one.detail)) {
    return rules.map(({ pointer, text }) => `${nameOf(pointer)}: ${text}`).join(" · ");
  }
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

/**
 * Returns the first error of the field at a JSON pointer, in the language of the page; undefined without one. An error of
 * a list is that of a line, counted from one, if the field `hasLines`.
 */
export function errorAt(error: unknown, pointer: string, t: Texts["t"], hasLines = true): string | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const found = error.errors.find((one) => `${one.pointer}/`.startsWith(`${pointer}/`));
  if (found === undefined) return undefined;
  const rule = describeRule(found.detail, t);
  const path = found.pointer.slice(pointer.length + 1);
  const line = /^\d+/.exec(path);
  if (line !== null) return hasLines ? t("error.line", { line: Number(line[0]) + 1, detail: rule }) : rule;
  return path === "" ? rule : `${path.replaceAll("/", " · ")}: ${rule}`;
}

/** Why single sign-on did not work, as the server says it in the address that it sends the browser back to. */
const SSO_ERRORS: ReadonlyMap<string, TextKey> = new Map([
  ["unknown_operator", "signIn.ssoUnknown"],
  ["unavailable", "signIn.ssoAway"],
  ["rate_limited", "signIn.tooOften"],
  ["refused", "signIn.ssoFailed"],
]);

/** Returns the text for an error of single sign-on; a general one for an unknown error. */
export const describeSsoError = (error: string): TextKey => SSO_ERRORS.get(error) ?? "signIn.ssoFailed";
