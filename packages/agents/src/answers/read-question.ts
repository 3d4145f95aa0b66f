import {
  detectLanguage,
  findSynonyms,
  foldAccents,
  isSameWord,
  likeness,
  meaningOf,
  tokenize,
  wordRarity,
} from "@svc/text";
import type { SearchResult } from "../answer.ts";
import { readNaming } from "../naming-words.ts";

/** What kind of answer a question asks for; "steps" is what to do. */
export type AnswerKind = "number" | "money" | "time" | "duration" | "person" | "place" | "steps";

/** A word of a question, with what it weighs. */
export interface QuestionWord {
  /** Without accents. */
  term: string;
  /** Inverse document frequency in the knowledge bases. */
  weight: number;
  /** How rare it is in everyday language, 0 to 1. */
  rarity: number;
  /** Whether it names what the question is about. */
  isName: boolean;
  /** Whether it is a name with digits ("E12"). */
  isCode: boolean;
  /** Whether no document of the knowledge bases has it. */
  isUnknown: boolean;
}

/** A question as its possible answers are compared with it. */
export interface ReadQuestion {
  words: readonly QuestionWord[];
  kind: AnswerKind | null;
  /** Its language (ISO 639-1); null where it does not show clearly. */
  language: string | null;
  /** How alike the question and words of a text are in meaning, -1 to 1; null for a language without word vectors. */
  likenessTo: ((terms: readonly string[]) => number) | null;
  /** For a term of a text, the places of the words that it is a form of; empty for none. */
  placesOf: (term: string) => readonly number[];
  /** As `placesOf`, for terms that mean the same as a word. */
  synonymPlacesOf: (term: string) => readonly number[];
}

/** Of a long question the rarest words say what it is about. */
const MAX_WORDS = 32;

/** Even the most common word that is no stop word counts this much. */
const LEAST_RARITY = 0.05;

const CODE = /^(?=.*\p{L})(?=.*\p{N})/u;

/** A question's kind shows in its beginning. */
const MAX_CHARS = 500;

/** How a question asks for a kind of answer, in the languages that have a list; the first match counts. */
const ASKS: readonly (readonly [kind: AnswerKind, pattern: RegExp])[] = [
  [
    "money",
    /\b(?:how much (?:is|are|does|do|will|would|for)|price|cost|costs|fee|charge|cheap|expensive|pay|was kostet|wie teuer|kosten|preis|gebühr|cuánto cuesta|cuesta|precio|combien (?:coûte|ça coûte)|prix|tarif|quanto costa|prezzo)\b/iu,
  ],
  [
    "duration",
    /\b(?:how long|how soon|how quickly|wie lange|cuánto (?:tiempo|tarda|dura)|combien de temps|quanto tempo|hoe lang)\b/iu,
  ],
  [
    "time",
    /\b(?:when|what time|until when|by when|how late|which day|wann|bis wann|um wie viel uhr|uhrzeit|cuándo|a qué hora|quand|à quelle heure|quando|wanneer|open|opening|deadline|öffnungszeiten)\b/iu,
  ],
  [
    "number",
    /\b(?:how many|how much|how often|how big|how large|how far|how old|how high|how heavy|what percentage|maximum|minimum|max|min|limit|wie viele?|wieviele?|wie oft|wie groß|wie weit|wie alt|wie hoch|wie schwer|cuántos|cuántas|cuánto|cuánta|combien|quanti|quante|quanto|hoeveel)\b/iu,
  ],
  ["person", /\b(?:who|whom|whose|wer|wem|wen|quién|qui|chi|wie is)\b/iu],
  ["place", /\b(?:where|wo|wohin|dónde|où|dove|waar)\b/iu],
  [
    "steps",
    /\b(?:how (?:do|does|can|could|should|to|would|must)|steps|wie (?:kann|muss|soll|mache|bekomme|ändere|stelle|richte|geht)|cómo|comment|come (?:posso|si)|hoe (?:kan|moet))\b/iu,
  ],
];

const HOLDS: Readonly<Record<AnswerKind, RegExp>> = {
  number:
    /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|once|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|einmal|zweimal|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|deux|trois|quatre|cinq|sept|huit|neuf|dix)\b/iu,
  money: /[€$£¥₽₺]|\b(?:euros?|eur|usd|dollars?|pounds?|cents?|free|kostenlos|gratis|gratuit)\b|\p{N}/iu,
  duration:
    /\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|tage|wochen?|monaten?|monate|jahren?|jahre|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|heures?|jours?|semaines?|mois|ans?|ms|immediately|sofort)\b/iu,
  time: /\p{N}|\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|before|after|once|until|vor|nach|bis|antes|después|avant|après)\b/iu,
  person: /\p{Lu}\p{Ll}+|\b(?:you|we|team|manager|administrator|user|owner|wir)\b/u,
  place: /\p{Lu}\p{Ll}+|\b(?:in|at|on|under|im|am|unter|en|dans|à|menu|settings|page|tab|folder|file|directory)\b/u,
  steps: /\S/u,
};

/** Returns whether a text holds something of the kind. */
export function holdsKind(kind: AnswerKind, text: string): boolean {
  return HOLDS[kind].test(text);
}

/** A language counts as known when the question shows it this clearly. */
const LEAST_LANGUAGE_CONFIDENCE = 0.6;

/** Reads a question that was searched for. */
export function readQuestion(asked: string, { words, passageCount = Infinity, languages }: SearchResult): ReadQuestion {
  const detected = detectLanguage(asked);
  const isClear = detected.confidence >= LEAST_LANGUAGE_CONFIDENCE;
  // Short questions show no language: then it is that of the documents.
  const language = isClear ? detected.language : (languages?.[0] ?? detected.language);
  const names = new Set([...readNaming(asked).words].map(foldAccents));
  // The weight of a word that stands nowhere, with some room for the share of its form.
  const leastUnknown = 1.15 * Math.log(1 + (passageCount + 0.5) / 0.5);
  const read = [...words]
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_WORDS)
    .map(({ word, weight }): QuestionWord => {
      const term = foldAccents(word);
      return {
        term,
        weight,
        rarity: Math.max(wordRarity(term, language) ** 3, LEAST_RARITY),
        isName: names.has(term),
        isCode: CODE.test(term),
        isUnknown: weight >= leastUnknown,
      };
    });
  const synonyms = new Map<string, number[]>();
  for (const [word, ofWord] of findSynonyms(asked, language)) {
    const place = read.findIndex(({ term }) => isForm(term, word));
    if (place === -1) continue;
    for (const synonym of ofWord) synonyms.set(synonym, [...(synonyms.get(synonym) ?? []), place]);
  }
  const meaning = meaningOf(
    tokenize(asked).map(({ term }) => term),
    language,
  );
  return {
    words: read,
    likenessTo: meaning === null ? null : (terms) => likeness(meaning, meaningOf(terms, language)),
    language: isClear ? detected.language : null,
    kind: ASKS.find(([, pattern]) => pattern.test(asked.slice(0, MAX_CHARS)))?.[0] ?? null,
    placesOf: remembered((term) => {
      const same = read.findIndex((word) => word.term === term);
      const place = same === -1 ? read.findIndex((word) => isForm(word.term, term)) : same;
      return place === -1 ? [] : [place];
    }),
    synonymPlacesOf: remembered((term) => {
      const own = synonyms.get(term);
      if (own !== undefined) return own;
      for (const [synonym, places] of synonyms) if (isForm(synonym, term)) return places;
      return [];
    }),
  };
}

function isForm(one: string, other: string): boolean {
  return isSameWord(one, other) || isPlural(one, other);
}

/** A word too short for `isSameWord` may have a plural all the same: "dog", "dogs". */
function isPlural(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= 3 && (one === `${other}s` || other === `${one}s`);
}

function remembered<T>(find: (term: string) => T): (term: string) => T {
  const known = new Map<string, T>();
  return (term) => {
    const before = known.get(term);
    if (before !== undefined) return before;
    const found = find(term);
    known.set(term, found);
    return found;
  };
}
