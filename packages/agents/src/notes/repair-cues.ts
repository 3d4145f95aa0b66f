import type { NoteWord } from "./note-words.ts";

/** What somebody says who corrects what was just said. */
export type CueKind = "pause" | "no" | "single" | "phrase";

/** Where somebody corrects himself: words from `from` on, up to and without `to`, that say so. */
export interface RepairCue {
  from: number;
  to: number;
  kind: CueKind;
}

interface CueWords {
  /** Sounds, which mean nothing. */
  pauses: string;
  /** Phrases that take something back. */
  edits: string;
  /** Words that stand before such a phrase. */
  links: string;
  /** Phrases that stand behind it, and are no part of what is put right. */
  tails: string;
}

/** By language; phrases are divided by commas. */
const CUES: Readonly<Record<string, CueWords>> = {
  en: {
    pauses: "er,err,erm,uh,uhm,um,umm,ummm,eh,hmm",
    edits:
      "no,nope,sorry,wait,oops,wow,actually,rather,instead,alternatively,correction,better,better yet,make that,make it,scratch that,scratch this,i mean,i meant,i meant to say,i mean to say,mean,meant,i should say,i'm sorry,excuse me,pardon me,let me rephrase,hold on,just kidding,never mind,forget that,not that,not this,or maybe",
    links: "or,oh,ah,well,not,just,ok,okay",
    tails:
      "i want to know,let me ask,tell me,how about,that should be,that was supposed to be,it should be,it was,it is,that is,just,not,say,what i mean is",
  },
  de: {
    pauses: "äh,ähm,öh,hm,hmm",
    edits:
      "nein,nee,quatsch,falsch,sorry,entschuldigung,pardon,moment,warte,halt,besser gesagt,beziehungsweise,ich meine,ich meinte,vielmehr,korrektur,streich das,vergiss das",
    links: "oder,ach,also,ich",
    tails: "das ist,es ist,sagen wir",
  },
  fr: {
    pauses: "euh,heu,hum",
    edits: "non,pardon,désolé,désolée,attends,attendez,plutôt,ou plutôt,je veux dire,je voulais dire,enfin,correction",
    links: "ou,ah,oh",
    tails: "c'est",
  },
  es: {
    pauses: "eh,em,este",
    edits: "no,perdón,perdona,espera,mejor dicho,quiero decir,quise decir,o sea,digo,corrección",
    links: "o,ah",
    tails: "es",
  },
  it: {
    pauses: "ehm,eh,mmm",
    edits: "no,scusa,scusi,aspetta,anzi,o meglio,voglio dire,volevo dire,cioè,correzione",
    links: "o,ah",
    tails: "è",
  },
  pt: {
    pauses: "hum,ahn,é",
    edits: "não,desculpa,desculpe,espera,melhor dizendo,quero dizer,quis dizer,ou melhor,aliás,correção",
    links: "ou,ah",
    tails: "é",
  },
  nl: {
    pauses: "eh,uh,ehm,uhm",
    edits: "nee,sorry,wacht,of liever,ik bedoel,ik bedoelde,beter gezegd,correctie,vergeet dat",
    links: "of,oh",
    tails: "het is",
  },
};

/** The languages whose corrections are known (ISO 639-1). */
export const REPAIR_LANGUAGES: readonly string[] = Object.keys(CUES);

type Phrases = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Phrases by their first word, the longest first. */
function phrasesOf(list: string): Phrases {
  const byFirst = new Map<string, string[][]>();
  for (const phrase of list.split(",").map((one) => one.split(" "))) {
    const [first = ""] = phrase;
    byFirst.set(
      first,
      [...(byFirst.get(first) ?? []), phrase].toSorted((a, b) => b.length - a.length),
    );
  }
  return byFirst;
}

const PHRASES = new Map(
  Object.entries(CUES).map(([language, { pauses, edits, links, tails }]) => [
    language,
    {
      pauses: new Set(pauses.split(",")),
      edits: phrasesOf(`${edits},${pauses}`),
      links: phrasesOf(links),
      tails: phrasesOf(tails),
    },
  ]),
);

/** How many words from `from` on are one of these phrases. */
function matchLength(words: readonly NoteWord[], from: number, phrases: Phrases): number {
  const candidates = phrases.get(words[from]?.word ?? "") ?? [];
  return candidates.find((phrase) => phrase.every((word, index) => words[from + index]?.word === word))?.length ?? 0;
}

/** Whoever says no with one of these behind it declines something. */
const THANKS = new Set("thanks thank danke merci gracias grazie obrigado obrigada bedankt".split(" "));

/** So many links may stand before one phrase. */
const MAX_LINKS = 3;

/** The sounds of a language that mean nothing, which can be left out wherever they stand. */
export function pausesOf(language: string): ReadonlySet<string> {
  return PHRASES.get(language)?.pauses ?? new Set();
}

/** Where somebody may correct himself, in reading order. Many of these places are no corrections: see `mendWords`. */
export function findRepairCues(words: readonly NoteWord[], language: string): RepairCue[] {
  const phrases = PHRASES.get(language);
  if (phrases === undefined) return [];
  const cues: RepairCue[] = [];
  for (let from = 0; from < words.length;) {
    const to = endOfCue(words, from, phrases);
    if (to === from) {
      from += 1;
      continue;
    }
    cues.push({ from, to, kind: kindOf(words.slice(from, to), phrases.pauses) });
    from = to;
  }
  return cues;
}

function endOfCue(
  words: readonly NoteWord[],
  from: number,
  { edits, links, tails }: { edits: Phrases; links: Phrases; tails: Phrases },
): number {
  let to = from;
  for (;;) {
    let place = to;
    for (let count = 0; count < MAX_LINKS; count += 1) {
      if (matchLength(words, place, edits) > 0) break;
      place += matchLength(words, place, links);
    }
    const length = matchLength(words, place, edits);
    if (length === 0) break;
    to = place + length;
  }
  if (to > from && THANKS.has(words[to]?.word ?? "")) return from;
  if (to > from) to += matchLength(words, to, tails);
  return to;
}

function kindOf(said: readonly NoteWord[], pauses: ReadonlySet<string>): CueKind {
  const words = new Set(said.map(({ word }) => word));
  if ([...words].every((word) => pauses.has(word))) return "pause";
  if (words.size > 1) return "phrase";
  return words.has("no") ? "no" : "single";
}
