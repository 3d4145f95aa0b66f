import { foldAccents, splitSentences, tokenize } from "@svc/text";
import { lazily } from "../lazily.ts";
import { replyToSmallTalk } from "../small-talk.ts";
import { HELP_WORDS, MORE_SMALL_TALK } from "../small-talk-more.ts";
import { SMALL_TALK } from "../small-talk-phrases.ts";
import { SAID_COURTESIES } from "./said-courtesies.ts";

const wordsOf = (text: string) =>
  tokenize(text)
    .map(({ term }) => foldAccents(term))
    .join(" ");

const REPLIES = Object.values({ ...SMALL_TALK, ...MORE_SMALL_TALK }).flatMap(({ replies }) => Object.values(replies));
const courtesies = lazily(() => {
  const sayings = [...REPLIES, ...Object.values(HELP_WORDS).map(({ reply }) => reply)].flatMap((reply) =>
    splitSentences(reply).map(({ text }) => text),
  );
  return new Set([...SAID_COURTESIES.split(","), ...sayings].map(wordsOf));
});

/** A courtesy is short; what is longer says something. */
const MAX_CHARS = 400;

/** True when a text is nothing but courtesies: it states nothing, so nothing has to support it. */
export function isCourtesy(text: string): boolean {
  if (text.length > MAX_CHARS) return false;
  const sentences = splitSentences(text);
  return sentences.length > 0 && sentences.every((sentence) => isPolite(sentence.text));
}

function isPolite(sentence: string): boolean {
  const words = wordsOf(sentence);
  return words === "" || courtesies().has(words) || replyToSmallTalk(sentence) !== null;
}
