import { automaticText } from "@svc/agents";
import type { AutomaticText } from "@svc/agents";
import { describeExpectedReply } from "@svc/channel-manager";
import { CHANNELS } from "@svc/contracts";
import { isRecord } from "@svc/primitives";
import { detectLanguage, tokenize } from "@svc/text";
import type { Run } from "./run.ts";

/** From this confidence on the text itself says which language it is in. */
const CLEAR_LANGUAGE = 0.5;

/** The language that a text is clearly in (ISO 639-1), or null. */
export function languageOf(text: string): string | null {
  const { language, confidence } = detectLanguage(text);
  return confidence < CLEAR_LANGUAGE ? null : language;
}

/** A text of fewer words may look like one in another language. */
const TELLING_WORDS = 3;

/** True when a text is long enough to know its language by; a script of few languages is. */
function isTelling(text: string): boolean {
  return tokenize(text).length >= TELLING_WORDS || /[^\P{L}\p{Script=Latin}]/u.test(text);
}

/** The language of the browser or app that a message was written in, or null where its channel does not say so. */
export function localeOf({ channelId, channelMeta }: Pick<Run["message"], "channelId" | "channelMeta">): string | null {
  const path: readonly string[] = CHANNELS[channelId].localePath;
  const locale = path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), channelMeta);
  return typeof locale === "string" ? (/^[a-z]{2}\b/i.exec(locale)?.[0].toLowerCase() ?? null) : null;
}

/** Below this confidence nothing in a text speaks for a language, and it is taken to be English. */
const LIKELY_LANGUAGE = 0.1;

/**
 * The likeliest language of a message if the documents that were searched for it are in that language too, or null: Spanish
 * without its accents, say, is not clear by itself.
 */
function likelyLanguage({ message, passages }: Pick<Run, "message" | "passages">): string | null {
  const { language, confidence } = detectLanguage(message.text);
  const isLikely = confidence >= LIKELY_LANGUAGE && isTelling(message.text);
  return isLikely && passages?.languages?.includes(language) === true ? language : null;
}

/** A handoff text, and below it when the customer can expect a person's reply, if that is known. An empty one stays empty. */
function withExpectedReply({ project }: Pick<Run, "project">, text: string, locale: string): string {
  const expected = describeExpectedReply(project, { locale });
  return text.trim() === "" || expected === "" ? text : `${text}\n\n${expected}`;
}

/**
 * An automatic text in the customer's language; empty where the project wants none. The hand-off text is that of the project in
 * this language, else the service's own, else the one that the project has for all, each with the expected reply.
 */
export function textForCustomer(run: Run, name: AutomaticText): string {
  const { handoffText, handoffTexts } = run.project;
  if (handoffText.trim() === "") return "";
  const written = isTelling(run.message.text) ? languageOf(run.message.text) : null;
  const known = run.said?.language ?? written ?? run.ticket?.language;
  const language = known ?? likelyLanguage(run) ?? localeOf(run.message);
  if (name !== "handoff") return automaticText(name, language ?? "en") ?? automaticText(name, "en") ?? "";
  const general = detectLanguage(handoffText).language;
  const own = language === null ? undefined : handoffTexts[language];
  const inLanguage = own ?? (language === null || language === general ? null : automaticText(name, language));
  return withExpectedReply(run, inLanguage ?? handoffText, inLanguage == null ? general : (language ?? general));
}
