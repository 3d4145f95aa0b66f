import { ServiceError } from "@svc/client";
import type { Texts, TextKey } from "../i18n/texts.ts";

type Table = readonly (readonly [RegExp, TextKey])[];

/** What a value must be, as the server says it of a field; `{value}` of the text is the group of the pattern. */
const RULES: Table = [
  [/^is required$/, "rule.required"],
  [/^must have at least (\d+) /, "rule.minLength"],
  [/^must have at most (\d+) /, "rule.maxLength"],
  [/^must be at least (\S+)$/, "rule.min"],
  [/^must be at most (\S+)$/, "rule.max"],
  [/^must be a time, /, "rule.time"],
  [/^must end after it starts/, "rule.timeOrder"],
  [/^must be periods in order/, "rule.periodOrder"],
  [/^is not a valid ISO date$/, "rule.date"],
  [/^must be an e-mail address/, "rule.email"],
  [/^must be a phone number/, "rule.phone"],
  [/^must be an ISO 639-1 code/, "rule.language"],
  [/^must be an? (?:IANA )?time zone/, "rule.timeZone"],
  [/^must be an origin/, "rule.origin"],
  [/^is not a valid URL$/i, "rule.url"],
  [/^is not allowed\. /, "rule.address"],
];

/** Whole sentences of the server. */
const SENTENCES: Table = [
  [/^(".*") (?:contains no text|is empty)\b/, "sentence.noText"],
  [/^(".*") is password-protected/, "sentence.encrypted"],
  [/^(".*") is truncated/, "sentence.truncated"],
  [/^(".*") is damaged/, "sentence.damaged"],
  [/^(".*") .*images cannot be read/, "sentence.image"],
  [/^(".*") requires too much memory/, "sentence.tooComplex"],
  [/^(".*") .*(?:cannot be read|is not supported|is binary data|contains no text)/, "sentence.unsupported"],
  [/^This is not a sitemap|^The URL must be that of a /, "sentence.noSitemap"],
  [/^This URL cannot be fetched\. (.*)$/s, "sentence.blocked"],
  [/robots\.txt of this site does not allow/, "sentence.robots"],
  [/^The URL redirects to (\S+)\. Use /, "sentence.redirects"],
  [/^This sitemap lists no pages/, "sentence.noPages"],
  [/^The sitemap (\S+) cannot be read/, "sentence.unreadSitemap"],
  [/^The sitemap (\S+) was not read completely/, "sentence.incompleteSitemap"],
  [/^Not all links of (\S+) were followed/, "sentence.incompleteSite"],
  [/^The server responded with (\d+)/, "sentence.status"],
  [/^The host name does not exist/, "sentence.noHost"],
  [/^The connection failed/, "sentence.noConnection"],
  [/^the provider did not respond like a model API/, "sentence.modelNoApi"],
  [/provider is unreachable/, "sentence.modelUnreachable"],
  [/^No model is chosen/, "sentence.noModel"],
  [/^The model did not respond within (\d+) s|no answer within/, "sentence.modelTimeout"],
  [/the provider returned (\d+)/, "sentence.modelStatus"],
];

function translate(table: Table, detail: string, t: Texts["t"]): string | null {
  for (const [pattern, key] of table) {
    const match = pattern.exec(detail);
    if (match !== null) return t(key, { value: match[1] ?? "", detail });
  }
  return null;
}

/** Returns what the value of a field must be, in the language of the page; in the server's words if they are unknown. */
const describeRule = (detail: string, t: Texts["t"]): string => translate(RULES, detail, t) ?? detail;

/** Returns why a file or a page could not be read, in the language of the page; the server's sentence is more precise. */
export const describeUnread = (error: string, { language, t }: Pick<Texts, "language" | "t">): string =>
  language.startsWith("en") ? error : (describeSentence(error, t) ?? error);

/** Returns a sentence of the server in the language of the page; null if it is unknown. */
export const describeSentence = (detail: string, t: Texts["t"]): string | null => translate(SENTENCES, detail, t);

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
