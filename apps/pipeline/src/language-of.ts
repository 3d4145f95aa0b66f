import { automaticText } from "@svc/agents";
import type { AutomaticText } from "@svc/agents";
import { describeExpectedReply } from "@svc/channel-manager";
import { CHANNELS } from "@svc/contracts";
import { isRecord } from "@svc/primitives";
import { detectLanguage, tokenize } from "@svc/text";
import type { Run } from "./run.ts";

/** Confidence from which the text itself determines its language. */
const CLEAR_LANGUAGE = 0.5;

/** Returns the language of a text if it is clear (ISO 639-1), otherwise null. */
export function languageOf(text: string): string | null {
  const { language, confidence } = detectLanguage(text);
  return confidence < CLEAR_LANGUAGE ? null : language;
}

/** Texts with fewer words may be mistaken for another language. */
const MIN_WORDS = 3;

/** Returns true if a text is long enough to detect its language, or in a script of few languages. */
function isLongEnough(text: string): boolean {
  return tokenize(text).length >= MIN_WORDS || /[^\P{L}\p{Script=Latin}]/u.test(text);
}

/**
 * Returns the language of the browser or app in which a message was written; null if its channel does not report one.
 */
export function localeOf({ channelId, channelMeta }: Pick<Run["message"], "channelId" | "channelMeta">): string | null {
  const path: readonly string[] = CHANNELS[channelId].localePath;
  const locale = path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), channelMeta);
  return typeof locale === "string" ? (/^[a-z]{2}\b/i.exec(locale)?.[0].toLowerCase() ?? null) : null;
}

/** Below this confidence the text counts as English. */
const LIKELY_LANGUAGE = 0.1;

/**
 * Returns the most likely language of a message if the documents found for it are in that language too, otherwise
 * null: Spanish without accents, for example, is not clear by itself.
 */
function likelyLanguage({ message, passages }: Pick<Run, "message" | "passages">): string | null {
  const { language, confidence } = detectLanguage(message.text);
  const isLikely = confidence >= LIKELY_LANGUAGE && isLongEnough(message.text);
  return isLikely && passages?.languages?.includes(language) === true ? language : null;
}

/**
 * Returns a handoff text, followed by the time in which the customer can expect a person's reply, if known. An empty
 * text stays empty.
 */
function withExpectedReply({ project }: Pick<Run, "project">, text: string, locale: string): string {
  const expected = describeExpectedReply(project, { locale });
  return text.trim() === "" || expected === "" ? text : `${text}\n\n${expected}`;
}

/**
 * Returns an automatic text in the customer's language; empty if the project has disabled it. The handoff text is the
 * project's text in this language, else the service's own, else the project's text for all languages, each with the
 * expected reply time.
 */
export function textForCustomer(run: Run, name: AutomaticText): string {
  const { handoffText, handoffTexts } = run.project;
  if (handoffText.trim() === "") return "";
  const written = isLongEnough(run.message.text) ? languageOf(run.message.text) : null;
  const known = run.said?.language ?? written ?? run.ticket?.language;
  const language = known ?? likelyLanguage(run) ?? localeOf(run.message);
  if (name !== "handoff") return automaticText(name, language ?? "en") ?? automaticText(name, "en") ?? "";
  const general = detectLanguage(handoffText).language;
  const own = language === null ? undefined : handoffTexts[language];
  const inLanguage = own ?? (language === null || language === general ? null : automaticText(name, language));
  return withExpectedReply(run, inLanguage ?? handoffText, inLanguage == null ? general : (language ?? general));
}
