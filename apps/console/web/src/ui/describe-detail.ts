import type { TextKey, Texts } from "../i18n/texts.ts";

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
  [/^must be an IANA time zone/, "rule.timeZone"],
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
export const describeRule = (detail: string, t: Texts["t"]): string => translate(RULES, detail, t) ?? detail;

/** Returns why a file or a page could not be read, in the language of the page; the server's sentence is more precise. */
export const describeUnread = (error: string, { language, t }: Pick<Texts, "language" | "t">): string =>
  language.startsWith("en") ? error : (describeSentence(error, t) ?? error);

/** Returns a sentence of the server in the language of the page; null if it is unknown. */
export const describeSentence = (detail: string, t: Texts["t"]): string | null => translate(SENTENCES, detail, t);
