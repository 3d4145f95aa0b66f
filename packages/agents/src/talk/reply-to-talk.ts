import type { Agent } from "@svc/contracts";
import type { Answer } from "../answer.ts";
import type { MessageClass, MessageKind } from "./classify-message.ts";
import { DEFAULT_LANGUAGE, talkByLanguage } from "./read-talk.ts";
import type { Talk } from "./read-talk.ts";

/** Kind of a message that no document answers, in words for an operator. */
const WHY: Record<Exclude<MessageKind, "question">, string> = {
  person: "The customer asks for a person.",
  greeting: "The message is only a greeting.",
  thanks: "The message is only thanks.",
  praise: "The message is only thanks.",
  solved: "The message says that the question is solved.",
  goodbye: "The message is only a goodbye.",
  help: "The message asks for help but does not say with what.",
  agreement: "The message is only an acknowledgement.",
  complaint: "The customer is upset and asks no question.",
  bot: "The customer asks about the assistant.",
  abilities: "The customer asks what the assistant can do.",
  statement: "The customer gives information and asks no question.",
};

/** Why a message is not answered from the documents; empty for a question. */
export function whyOfTalk(kind: MessageKind): string {
  return kind === "question" ? "" : WHY[kind];
}

/** True for what a person has to see, and no document answers. */
export function isForPerson(kind: MessageKind): boolean {
  return kind === "person" || kind === "complaint" || kind === "statement";
}

/** True for what needs no reply where a person has the conversation. */
export function needsNoReply(kind: MessageKind): boolean {
  return kind === "thanks" || kind === "agreement" || kind === "goodbye" || kind === "greeting";
}

/** Text of an automatic reply, unless the project sets its own. */
export type AutomaticText = "added" | "handoff";

/** An automatic text in a language, or null where there is none in it. */
export function automaticText(name: AutomaticText, language: string): string | null {
  return talkByLanguage().get(language)?.replies[name] ?? null;
}

/** The languages that automatic texts are in, as ISO 639-1. */
export function automaticTextLanguages(): string[] {
  return [...talkByLanguage()].flatMap(([language, { replies }]) => (replies.handoff === undefined ? [] : [language]));
}

const TALK_CONFIDENCE = 0.95;

/** Maximum number of agents that are named. */
const MAX_TOPICS = 8;

/**
 * The reply to small talk or to a question about the assistant, in its language; what the assistant can do is said in
 * the agents' names: their descriptions are the owner's, for routing. Null for a question, and for what a person has to see.
 */
export function replyToTalk(
  { kind, language }: MessageClass,
  { language: chatLanguage, agents }: { language?: string | null | undefined; agents: readonly Pick<Agent, "name">[] },
): Answer | null {
  if (kind === "question" || isForPerson(kind)) return null;
  const topics = agents.slice(0, MAX_TOPICS).map(({ name }) => name);
  const name = REPLY_OF[kind === "abilities" && topics.length === 0 ? "bot" : kind];
  if (name === undefined) return null;
  const text = textIn(name, language ?? chatLanguage ?? DEFAULT_LANGUAGE);
  return {
    text: text.replace("{topics}", () => topics.map((topic) => `- ${topic}`).join("\n")),
    markdown: name === "abilities",
    sources: [],
    confidence: TALK_CONFIDENCE,
    why: WHY[kind],
  };
}

const REPLY_OF: Partial<Record<MessageKind, keyof Talk["replies"]>> = {
  greeting: "greeting",
  thanks: "thanks",
  praise: "thanks",
  solved: "thanks",
  goodbye: "goodbye",
  help: "help",
  agreement: "agreement",
  bot: "bot",
  abilities: "abilities",
};

/** Languages that have fewer texts reply as they do to thanks or to a greeting. */
function textIn(name: keyof Talk["replies"], language: string): string {
  const own = talkByLanguage().get(language)?.replies ?? {};
  const fitting = name === "agreement" ? own.thanks : name === "help" ? own.greeting : undefined;
  return own[name] ?? fitting ?? talkByLanguage().get(DEFAULT_LANGUAGE)?.replies[name] ?? "";
}
