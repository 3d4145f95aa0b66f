import { asksForPerson } from "../asks-for-person.ts";
import { findTalk, readManner, readSigns } from "./find-talk.ts";
import type { TalkKind } from "./read-talk.ts";

/** What a message is: a question to the documents, a request for a person, or talk that no document answers. */
export type MessageKind = "question" | "person" | TalkKind;

/** What a message is, and the language in which that is said (ISO 639-1); of a question null. */
export interface MessageClass {
  kind: MessageKind;
  language: string | null;
}

/** What is known of the conversation. */
export interface MessageContext {
  /** That of the conversation, or of its customer's browser (ISO 639-1). */
  language?: string | null | undefined;
  /** True when an agent's answer is what was said last. */
  isAfterAnswer?: boolean;
  /** True if an operator replied last: a message that asks nothing is a statement to that person. */
  isAfterOperator?: boolean;
}

/**
 * What a message is. It is talk when every word of it belongs to the phrases of one language, or is empty or a name; a
 * complaint may hold other words, as long as it asks nothing. Knows the languages of `data/talk`.
 */
export function classifyMessage(text: string, context: MessageContext = {}): MessageClass {
  const chatLanguage = context.language?.toLowerCase().split("-")[0] ?? null;
  const wordless = readSigns(text);
  if (wordless !== null) return { kind: wordless, language: chatLanguage };
  const talk = findTalk(text, chatLanguage);
  // "Are you a real person?" asks for none, "human!" does.
  const isAboutBot = talk?.kind === "bot" && text.trim().includes(" ");
  if (!isAboutBot && asksForPerson(text)) return { kind: "person", language: talk?.language ?? chatLanguage };
  if (talk !== null) {
    return { kind: kindInContext(talk.kind, context), language: talk.language };
  }
  const tells = context.isAfterOperator === true && !readManner(text, chatLanguage).asks;
  return { kind: tells ? "statement" : "question", language: null };
}

/** Returns the kind of a message in its conversation: agreement with nothing asks for help. */
export function kindInContext(kind: MessageKind, { isAfterAnswer, isAfterOperator }: MessageContext): MessageKind {
  return kind === "agreement" && isAfterAnswer !== true && isAfterOperator !== true ? "help" : kind;
}
