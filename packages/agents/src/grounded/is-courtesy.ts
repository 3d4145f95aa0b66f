import { foldAccents, splitSentences, tokenize } from "@svc/text";
import { lazily } from "../lazily.ts";
import { isSmallTalk } from "../talk/find-talk.ts";
import { talkByLanguage } from "../talk/read-talk.ts";
import { SAID_COURTESIES } from "./said-courtesies.ts";

const wordsOf = (text: string) =>
  tokenize(text)
    .map(({ term }) => foldAccents(term))
    .join(" ");

const courtesies = lazily(() => {
  const sayings = [...talkByLanguage().values()].flatMap(({ replies }) =>
    Object.values(replies).flatMap((reply) => splitSentences(reply).map(({ text }) => text)),
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
  return words === "" || courtesies().has(words) || isSmallTalk(sentence);
}
