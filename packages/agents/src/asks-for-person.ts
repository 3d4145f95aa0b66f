import { stopWords } from "@svc/text";
import { lazily } from "./lazily.ts";
import { foldWords, matchWording, phrasesOf } from "./match-wording.ts";
import type { WordingMatcher } from "./match-wording.ts";
import { PERSON_PHRASES, UNSPACED_LANGUAGES } from "./person-phrases.ts";
import { withoutCourtesies } from "./question-of.ts";

const GAP_WORDS = 3;
const WANTED_GAP_WORDS = 1;

/** Whoever asks for a person says so in a few words; of a longer text the beginning and the end are read. */
const MAX_READ_CHARS = 2_000;

const KIND_WORDS = `please, pls, plz, bitte, svp, s'il vous plaît, por favor, per favore, prego, alsjeblieft, alstublieft, graag, tack, tak, takk, kiitos,
  пожалуйста, будь ласка, proszę, prosím, vă rog, kérem, lütfen, παρακαλώ, tolong, vui lòng, من فضلك, בבקשה, لطفا, कृपया, お願いします, 请, 부탁합니다, ครับ, ค่ะ`;

const personNames = lazily(
  (): ReadonlySet<string> => new Set(Object.values(PERSON_PHRASES).flatMap(({ persons }) => phrasesOf(persons))),
);
const KIND = matchWording([KIND_WORDS], { gap: 0, isUnspaced: false });

/** What is said behind whoever is wanted, beside words that say nothing by themselves. */
const SOON =
  "now, right, asap, immediately, urgently, today, jetzt, sofort, dringend, heute, maintenant, ahora, adesso, agora, nu";
const personWords = lazily(
  (): ReadonlySet<string> =>
    new Set([
      ...phrasesOf(SOON),
      ...phrasesOf(KIND_WORDS).flatMap((phrase) => phrase.split(" ")),
      ...Object.values(PERSON_PHRASES).flatMap(({ asks, persons }) =>
        [...phrasesOf(persons), ...phrasesOf(asks[0]?.[1] ?? "")].flatMap((phrase) => phrase.split(" ")),
      ),
    ]),
);

/** Who needs "a manager role" wants something else: behind whoever is wanted stands no word that says more. */
function wantedAlone(match: WordingMatcher, language: string): WordingMatcher {
  const foldedStopWords = lazily(() => new Set([...stopWords(language)].map(foldWords)));
  return (words) => {
    const found = match(words);
    if (found === null) return null;
    const empty = foldedStopWords();
    if (empty.size === 0) return found;
    const [next = ""] = words.slice(found.end).trim().split(" ", 1);
    return next === "" || empty.has(next) || personWords().has(next) ? found : null;
  };
}

const MATCHERS: readonly WordingMatcher[] = Object.entries(PERSON_PHRASES).flatMap(([language, { asks, wants }]) => {
  const isUnspaced = UNSPACED_LANGUAGES.has(language);
  const anyOrder = asks.flatMap((wording) => (wording.length > 1 ? [wording, wording.toReversed()] : [wording]));
  const persons = asks[0]?.[1];
  return [
    ...anyOrder.map((wording) => matchWording(wording, { gap: GAP_WORDS, isUnspaced })),
    ...(persons === undefined || wants === ""
      ? []
      : [
          wantedAlone(
            matchWording([wants, persons], { gap: WANTED_GAP_WORDS, isUnspaced }),
            isUnspaced ? "" : language,
          ),
        ]),
  ];
});

/** True when a message asks for a person ("talk to a human", "agent please"), in one of the languages of `PERSON_PHRASES`. */
export function asksForPerson(message: string): boolean {
  const text = ends(message);
  const words = foldWords(text);
  if (namesPerson(text, words)) return true;
  const found = MATCHERS.map((match) => match(words)).find((place) => place !== null) ?? null;
  // Who asks whether it takes a person would rather have it without one.
  return found !== null && !reluctant().some((phrase) => words.slice(0, found.start).trimEnd().endsWith(phrase));
}

const reluctant = lazily(() =>
  phrasesOf(`do i have to, do i need to, do we have to, do we need to, should i, must i, without having to, without,
  muss ich, müssen wir, ohne, dois je, tengo que, devo, moet ik`),
);

/** A message with more words says more than whom it wants. */
const MAX_NAMING_WORDS = 12;

/** The last words of whoever is wanted: to read a message for courtesies takes ten times as long as to look for them. */
const lastWords = lazily(() => new Set([...personNames()].map((person) => person.split(" ").at(-1))));

/** True when a message is nothing but whom it wants, and courtesies. */
function namesPerson(text: string, words: string): boolean {
  const all = words.split(" ");
  if (all.length > MAX_NAMING_WORDS || !all.some((word) => lastWords().has(word))) return false;
  const names = personNames();
  return names.has(withoutKindWords(words)) || names.has(withoutKindWords(foldWords(withoutCourtesies(text))));
}

function ends(text: string): string {
  return text.length <= 2 * MAX_READ_CHARS ? text : `${text.slice(0, MAX_READ_CHARS)}\n${text.slice(-MAX_READ_CHARS)}`;
}

function withoutKindWords(words: string): string {
  const kind = KIND(words);
  if (kind === null) return words;
  return `${words.slice(0, kind.start).trim()} ${words.slice(kind.end).trim()}`.trim();
}
