import type { Agent } from "@svc/contracts";
import type { Answer } from "../answer.ts";
import type { MessageClass, MessageKind } from "./classify-message.ts";
import { DEFAULT_LANGUAGE, talkByLanguage } from "./read-talk.ts";
import type { Talk } from "./read-talk.ts";

/** Kind of a message that no document answers, for operators. */
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

/** Explains why a message is not answered from the documents; empty for a question. */
export function whyOfTalk(kind: MessageKind): string {
  return kind === "question" ? "" : WHY[kind];
}

/** Returns whether a message needs a person and no document answers it. */
export function isForPerson(kind: MessageKind): boolean {
  return kind === "person" || kind === "complaint" || kind === "statement";
}

/** Text of an automatic reply, unless the project sets its own. */
export type AutomaticText = "added" | "handoff";

/** Returns an automatic text in a language, or null if there is none. */
export function automaticText(name: AutomaticText, language: string): string | null {
  return talkByLanguage().get(language)?.replies[name] ?? null;
}

/** Returns the languages of automatic texts (ISO 639-1). */
export function automaticTextLanguages(): string[] {
  return [...talkByLanguage()].flatMap(([language, { replies }]) => (replies.handoff === undefined ? [] : [language]));
}

const TALK_CONFIDENCE = 0.95;

/** Maximum number of agents in a reply. */
const MAX_TOPICS = 8;

/**
 * Returns the reply to small talk or to a question about the assistant, in its language. The assistant's abilities are
 * given as the agents' names, because their descriptions are the owner's, for routing. Null for a question, and for a
 * message that needs a person.
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

/** Languages with fewer texts reply as to thanks or a greeting. */
function textIn(name: keyof Talk["replies"], language: string): string {
  const own = talkByLanguage().get(language)?.replies ?? {};
  const fitting = name === "agreement" ? own.thanks : name === "help" ? own.greeting : undefined;
  return own[name] ?? fitting ?? talkByLanguage().get(DEFAULT_LANGUAGE)?.replies[name] ?? "";
}
