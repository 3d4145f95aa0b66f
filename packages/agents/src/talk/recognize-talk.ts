import { z } from "zod";
import { detectLanguage } from "@svc/text";
import { withinMs } from "@svc/primitives";
import type { Agent } from "@svc/contracts";
import { createLanguageFiles } from "../language-files.ts";
import { kindInContext } from "./classify-message.ts";
import type { MessageClass, MessageContext, MessageKind } from "./classify-message.ts";
import { readManner } from "./find-talk.ts";
import { DEFAULT_LANGUAGE, TALK_KINDS, talkByLanguage } from "./read-talk.ts";
import type { Answer } from "../answer.ts";
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

/** Creates embeddings of length 1. `embedQuery` returns null if there is none in time, and never rejects. */
interface TextEmbedder {
  embedQuery(text: string): Promise<Float32Array | null>;
  /** Rejects if the model or server fails. */
  embedQueries(texts: readonly string[]): Promise<(Float32Array | null)[]>;
}

/** Recognizes small talk in other words than the phrases of `data/talk`. */
export interface TalkRecognizer {
  /** Returns the kind of a message that is certainly not a question, otherwise null. Never rejects. */
  recognize(text: string, context: MessageContext): Promise<MessageClass | null>;
}

/** An example sentence of a kind, with its embedding. */
interface TalkExample {
  kind: MessageKind;
  language: string;
  embedding: Float32Array;
}

/** Maximum length of small talk. */
const MAX_CHARS = 200;

/** Minimum confidence of a message's detected language. */
const CLEAR_LANGUAGE = 0.5;

/**
 * A kind is recognized if its examples are closer than this share of the distance to the nearest example with another
 * outcome (ratio test of Lowe, IJCV 2004): distances of different models have different scales, ratios do not.
 */
const MAX_RATIO = 0.8;

/** Factor for a message that asks something, because it is more likely to be a question. */
const ASKING_MARGIN = 0.9;

/** Margin below the ratio of the example question that is most like small talk. */
const QUESTION_MARGIN = 0.9;

/** Number of nearest examples of a kind whose mean distance counts, so that one outlier does not decide. */
const NEIGHBOURS = 2;

/** Smaller distances count as equal: a model that does not know the words of a text cannot distinguish texts. */
const LEAST_DISTANCE = 1e-6;

/**
 * Maximum time a message waits for the embeddings of the examples, which are created with the first message of a
 * language.
 */
const EXAMPLES_WAIT_MS = 2_000;

const examplesOf = createLanguageFiles(
  "talk-examples",
  z.partialRecord(z.enum([...TALK_KINDS, "person", "question"]), z.array(z.string().min(1)).min(NEIGHBOURS)),
);

/** Kinds that apply to a message that asks something. */
const ASKING: ReadonlySet<MessageKind> = new Set(["help", "bot", "abilities", "person"]);

/** The reply to one of these kinds is wrong if the message also reports a problem or gives data. */
const PLAIN: ReadonlySet<MessageKind> = new Set(["greeting", "thanks", "goodbye", "help", "agreement"]);

const outcomeOf = (kind: MessageKind) => (kind === "question" ? "question" : isForPerson(kind) ? "person" : "reply");

/** Returns the distance of two embeddings of length 1: 0 for the same direction. */
const distance = (one: Float32Array, other: Float32Array) =>
  1 - one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

/**
 * Returns the nearest example of the closest kind of small talk, and the ratio of its distance to that of the nearest
 * example with another outcome; null if no kind has enough examples.
 */
export function compareWithExamples(
  embedding: Float32Array,
  examples: readonly TalkExample[],
): { example: TalkExample; ratio: number } | null {
  const sorted = examples
    .map((example) => ({ example, distance: distance(embedding, example.embedding) }))
    .toSorted((a, b) => a.distance - b.distance);
  const kinds = [...new Set(examples.map(({ kind }) => kind))].flatMap((kind) => {
    const nearest = sorted.filter(({ example }) => example.kind === kind).slice(0, NEIGHBOURS);
    const [first] = nearest;
    if (kind === "question" || first === undefined || nearest.length < NEIGHBOURS) return [];
    return [{ example: first.example, distance: nearest.reduce((sum, one) => sum + one.distance, 0) / NEIGHBOURS }];
  });
  const [best] = kinds.toSorted((a, b) => a.distance - b.distance);
  if (best === undefined) return null;
  const outcome = outcomeOf(best.example.kind);
  const rival = sorted.find(({ example }) => outcomeOf(example.kind) !== outcome)?.distance ?? 0;
  return { example: best.example, ratio: rival < LEAST_DISTANCE ? 1 : best.distance / rival };
}

/**
 * Returns the ratio up to which a model can be trusted: below that of every example question compared with the other
 * examples. A model that does not know a language cannot distinguish kinds in it, and nothing is recognized.
 */
export function trustedRatio(examples: readonly TalkExample[]): number {
  const ratios = examples
    .filter(({ kind }) => kind === "question")
    .map((question) => {
      const others = examples.filter((example) => example !== question);
      return compareWithExamples(question.embedding, others)?.ratio ?? 0;
    });
  return Math.min(MAX_RATIO, QUESTION_MARGIN * Math.min(...ratios));
}

interface ExampleSet {
  examples: TalkExample[];
  maxRatio: number;
}

/**
 * Creates a recognizer. The examples of a language and of English are embedded once per process, with the first message
 * that needs them; `onError` is called when that fails, and the next message retries.
 */
export function createTalkRecognizer(embedder: TextEmbedder, onError: (error: unknown) => void): TalkRecognizer {
  const sets = new Map<string, Promise<ExampleSet | null>>();

  async function embedExamples(languages: readonly string[]): Promise<ExampleSet> {
    const texts = languages.flatMap((language) =>
      Object.entries(examplesOf(language) ?? {}).flatMap(([kind, list]) =>
        list.map((text) => ({ kind: kind as MessageKind, language, text })),
      ),
    );
    const embeddings = await embedder.embedQueries(texts.map(({ text }) => text));
    const examples = texts.flatMap(({ kind, language }, at) => {
      const embedding = embeddings[at] ?? null;
      return embedding === null ? [] : [{ kind, language, embedding }];
    });
    return { examples, maxRatio: trustedRatio(examples) };
  }

  function setOf(language: string): Promise<ExampleSet | null> {
    const known = sets.get(language);
    if (known !== undefined) return known;
    const made = embedExamples([...new Set([language, DEFAULT_LANGUAGE])]).catch((error: unknown) => {
      sets.delete(language);
      onError(error);
      return null;
    });
    sets.set(language, made);
    return made;
  }

  return {
    async recognize(text, context) {
      if (text.trim() === "" || text.length > MAX_CHARS) return null;
      const chatLanguage = context.language?.toLowerCase().split("-")[0] ?? null;
      const detected = detectLanguage(text, chatLanguage ?? undefined);
      const own = detected.confidence >= CLEAR_LANGUAGE || chatLanguage === null ? detected.language : chatLanguage;
      const embedding = await embedder.embedQuery(text);
      if (embedding === null) return null;
      const known = examplesOf(own) === null ? DEFAULT_LANGUAGE : own;
      const set = (await withinMs(setOf(known), EXAMPLES_WAIT_MS)) ?? null;
      const found = set === null ? null : compareWithExamples(embedding, set.examples);
      if (set === null || found === null) return null;
      const { asks, hasProblem } = readManner(text, chatLanguage);
      if (found.ratio >= set.maxRatio * (asks ? ASKING_MARGIN : 1)) return null;
      const kind = kindInContext(found.example.kind, context);
      if ((asks && !ASKING.has(kind)) || (hasProblem && PLAIN.has(kind))) return null;
      return { kind, language: own };
    },
  };
}
