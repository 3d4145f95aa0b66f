import { foldAccents, splitSentences, stopWords } from "@svc/text";
import { CLAIM_WORDS, MEASURES, TURNS } from "./claim-words.ts";
import type { ClaimWords } from "./claim-words.ts";
import { DIGITS_OF, numbersIn } from "./find-foreign-parts.ts";
import { hasTurn } from "./turning-words.ts";

/** A number and what it counts: a unit, `clock` for a time of day (then the value is minutes after midnight), or null. */
export interface Amount {
  value: number;
  unit: string | null;
}

/** What decides about a part of a sentence that says one thing. */
export interface Statement {
  text: string;
  /** As ISO 639-1. */
  language: string;
  /** Words that carry the meaning, folded; synonyms as one. */
  words: ReadonlySet<string>;
  amounts: readonly Amount[];
  /** Units, days and months, each with what it measures. */
  measures: ReadonlyMap<string, string>;
  /** Whether what it states, and its condition, is denied an odd number of times. */
  isDenied: boolean;
  isConditionDenied: boolean;
  /** Words of its condition; null where it has none. */
  condition: ReadonlySet<string> | null;
  /** Words behind "except"; null where there are none. */
  exception: ReadonlySet<string> | null;
  marks: ReadonlySet<Mark>;
  /** What it says "all" of: the words behind it, "" for "always". */
  allOf: ReadonlySet<string>;
  /** Whether it tells the customer what is possible or needed, rather than who does something. */
  letsYou: boolean;
  /** Words with a capital letter within a sentence. */
  names: ReadonlySet<string>;
  /** Identifiers and code. */
  codes: ReadonlySet<string>;
  /** The first of its words, which is mostly whom it is about. */
  subject: string | null;
  /** Words of the part before it, where it goes on with that: "€80 for a city bicycle, for an electric one €250". */
  inherited: ReadonlySet<string>;
}

/** What a statement has besides words and numbers. */
export type Mark =
  | "free"
  | "pay"
  | "only"
  | "except"
  | "even"
  | "all"
  | "less"
  | "more"
  | "we"
  | "you"
  | "ask"
  | "secret";

type Kind = Mark | "not" | "if" | "unless" | "light" | "turn";

interface Lexicon {
  phrases: ReadonlyMap<string, Kind>;
  flips: ReadonlyMap<string, string>;
  same: ReadonlyMap<string, string>;
  /** Stop words that tell nothing apart. */
  empty: ReadonlySet<string>;
  lets: ReadonlySet<string>;
}

const MAX_PHRASE_WORDS = 4;
const KINDS = [
  ...([
    "light",
    "all",
    "free",
    "only",
    "except",
    "if",
    "unless",
    "even",
    "less",
    "more",
    "we",
    "you",
    "pay",
    "ask",
  ] as const),
  ...(["secret", "not"] as const),
];

const LEXICONS = new Map(
  Object.entries(CLAIM_WORDS).map(([language, words]) => [language, lexiconOf(language, words)]),
);
const MEASURE_OF = new Map(
  Object.entries(MEASURES).flatMap(([dimension, units]) =>
    Object.entries(units).flatMap(([unit, words]) =>
      words.split(" ").map((word) => [fold(word), { unit, dimension }] as const),
    ),
  ),
);

function lexiconOf(language: string, words: ClaimWords): Lexicon {
  const phrases = new Map<string, Kind>();
  for (const kind of KINDS) for (const phrase of words[kind].split(",")) phrases.set(foldOwn(phrase), kind);
  for (const phrase of (TURNS[language] ?? "").split(",")) phrases.set(foldOwn(phrase), "turn");
  const telling = new Set(words.telling.split(",").map(fold));
  const groups = words.same.split("|").map((group) => group.split(" ").map((word) => foldOwn(word.replace("-", " "))));
  return {
    phrases,
    flips: new Map(words.flips.split(",").map((pair) => pair.split(":").map(fold) as [string, string])),
    same: new Map(groups.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const))),
    empty: new Set([...stopWords(language)].map(fold).filter((word) => !telling.has(word))),
    lets: new Set(words.lets.split(",").map(fold)),
  };
}

/** German "Sie" is "you", "sie" is not: words with a capital letter in the list are looked for as they stand. */
function foldOwn(phrase: string): string {
  return /^(?:Sie|Ihnen)$/.test(phrase) ? phrase : fold(phrase);
}

function fold(text: string): string {
  return foldAccents(text.toLowerCase());
}

/** True where the words that turn statements are known in full. */
export function readsStatements(language: string): boolean {
  return LEXICONS.has(language);
}

/** Addresses are compared by themselves, and say nothing in words. */
const ADDRESSES = /(?<=\])\([^()\s]{1,1000}\)|<?\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s<>"'`)\]}]{1,1000}>?/gi;

const YES_OR_NO = /^(?:yes|no|ja|nein|sí|si|oui|non)\s*[,.:;–-]\s*(?=\S)/iu;

/**
 * Reads the statements of a text: each sentence, cut where it goes over to something else ("; cats are not allowed").
 * A "Yes," or "No," at its beginning is left out.
 */
export function readStatements(text: string, language: string): Statement[] {
  return splitSentences(text.replace(ADDRESSES, " ")).flatMap(({ text: sentence }) => {
    const statements: Statement[] = [];
    for (const { part, goesOn } of cutStatements(unfold(sentence.replace(YES_OR_NO, ""), language), language)) {
      const statement = readStatement(part, language);
      const before = statements.at(-1);
      const inherits = before !== undefined && (goesOn || statement.words.size === 0);
      statements.push(
        inherits ? { ...statement, inherited: new Set([...before.words, ...before.inherited]) } : statement,
      );
    }
    return statements;
  });
}

const VERBS = "is|are|was|were|can|may|must|will|ist|sind|wird|werden|kann|können|es|son|está|están|se|puede|pueden";

/** A part of a sentence, and whether it goes on with the words of the one before. */
interface SentencePart {
  part: string;
  goesOn: boolean;
}

/** Cuts a sentence where it goes over to something else. */
function cutStatements(sentence: string, language: string): SentencePart[] {
  const turns = (TURNS[language] ?? "").split(",").filter(Boolean).join("|");
  const denials = "not|never|no|kein|keine|nicht|nie|nunca|ni";
  // ", not by post" is a part of its own, ", no refund is possible" goes with what stands before.
  const pattern =
    turns === ""
      ? /;\s+/u
      : new RegExp(
          `;\\s+|,?\\s+(?=(?:${turns})\\s)|,\\s+(?=(?:${denials})\\s(?!.*\\b(?:${VERBS})\\b))|,?\\s+(?=(?:and|und|y)\\s+(?:(?:do|does|is|are|can|may|must)\\s+)?(?:${denials})\\s)`,
          "giu",
        );
  return sentence
    .split(pattern)
    .filter((piece) => piece.trim() !== "")
    .flatMap((piece) => cutAmounts(piece).map((part, index) => ({ part, goesOn: index > 0 })));
}

/** "€80 for a city bicycle and €250 for an electric one": each amount with its own words. */
function cutAmounts(part: string): string[] {
  const pieces = part.split(/(?<=[\p{L}\d)€$£%]),?\s+(?:and|und|y|while)\s+(?=\S)|,\s+(?=\S)/u);
  const cut: string[] = [];
  for (const piece of pieces) {
    const last = cut.at(-1);
    const isOwn =
      last !== undefined && hasAmount(piece) && hasAmount(last) && wordCount(piece) > 2 && wordCount(last) > 2;
    if (last === undefined || isOwn) cut.push(piece);
    else cut[cut.length - 1] = part.slice(part.indexOf(last), part.indexOf(piece, part.indexOf(last)) + piece.length);
  }
  return cut;
}

const hasAmount = (text: string): boolean => /\d/.test(text) || wordsOf(text).some((word) => DIGITS_OF.has(fold(word)));
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{M}]+/gu) ?? [];
const wordCount = (text: string): number => wordsOf(text).length;

const TOKEN =
  /(?<clock>\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\b\.?|uhr\b|h\b)|\b\d{1,2}:\d{2}\b)|(?<number>\d+(?:[.,'’\u00A0\u202F]\d{3}(?!\d))*(?:[.,]\d+)?)|(?<code>`[^`\n]+`|[\p{L}\p{N}]+(?:[_=][\p{L}\p{N}]+)+)|(?<word>[\p{L}\p{M}]+(?:['’-][\p{L}]+)*)|(?<sign>[€$£%])/giu;

interface Token {
  kind: "clock" | "number" | "code" | "word" | "sign";
  text: string;
  index: number;
}

function tokensOf(text: string): Token[] {
  return [...text.matchAll(TOKEN)].flatMap(({ groups = {}, index }) => {
    const [kind, found = ""] = Object.entries(groups).find(([, value]) => value !== undefined) ?? [];
    return kind === undefined ? [] : [{ kind: kind as Token["kind"], text: found, index }];
  });
}

/** Short forms in full, and "los no residentes" as a word for people. */
function unfold(text: string, language: string): string {
  if (language === "en") {
    return text
      .replace(/\b(?:cannot|can['’]t)\b/giu, "can not")
      .replace(/\bwon['’]t\b/giu, "will not")
      .replace(/n['’]t\b/giu, " not");
  }
  return language === "es" ? text.replace(/\b(los|las) no (?=\p{L})/giu, "$1 no-") : text;
}

function readStatement(text: string, language: string): Statement {
  const lexicon = LEXICONS.get(language);
  const tokens = tokensOf(text.replaceAll("**", ""));
  const parts = { main: new Set<string>(), condition: new Set<string>(), exception: new Set<string>() };
  const denials = { main: 0, condition: 0, exception: 0 };
  const denied = { main: 0, condition: 0, exception: 0 };
  const marks = new Set<Mark>();
  const amounts: Amount[] = [];
  const measures = new Map<string, string>();
  const names = new Set<string>();
  const codes = new Set<string>();
  const allOf = new Set<string>();
  let letsYou = false;
  let part: keyof typeof parts = "main";
  let subject: string | null = null;
  let begins = 0;

  for (let at = 0; at < tokens.length;) {
    const token = tokens[at] as Token;
    const before = tokens[at - 1];
    // A condition that comes first ends at the comma.
    if (part !== "main" && begins === 0 && /,\s*$/.test(text.slice(0, token.index))) part = "main";
    if (token.kind === "clock" || token.kind === "number") {
      amounts.push(readAmount(tokens, at));
      at += 1;
      continue;
    }
    if (token.kind === "code") {
      const code = fold(token.text.replaceAll("`", ""));
      codes.add(code);
      for (const { text: word } of tokensOf(code)) parts[part].add(word);
      at += 1;
      continue;
    }
    if (lexicon?.lets.has(fold(token.text)) === true) letsYou = true;
    const found = lexicon === undefined ? null : phraseAt(tokens, at, lexicon);
    if (found !== null) {
      const { kind, length } = found;
      // "no … nada", "neither … nor" deny once; "without" denies by itself.
      if (kind === "not" && WITHOUT.test(token.text)) denials[part] += 1;
      else if (kind === "not") denied[part] = 1;
      else if (kind === "if" || kind === "unless") {
        part = "condition";
        begins = at;
        if (kind === "unless") denials.condition += 1;
      } else if (kind === "except") {
        marks.add("except");
        part = "exception";
        begins = at;
      } else if (kind === "all") {
        if (!isFrequency(tokens, at + length)) {
          marks.add("all");
          allOf.add(
            /^(?:all|any|every|alle[nr]?|tod[oa]s|cualquier)$/i.test(token.text)
              ? fold(tokens[at + length]?.text ?? "")
              : "",
          );
        }
      } else if (kind === "we" || kind === "you") {
        // Who acts under a condition is not who acts.
        if (part !== "condition") marks.add(kind);
      } else if (kind !== "light" && kind !== "turn") marks.add(kind);
      // What a text asks for, and what it must not ask for, has to stand in what it quotes as well.
      if (kind === "ask" || kind === "secret" || kind === "even" || kind === "pay") {
        for (const { text: word } of tokens.slice(at, at + length)) parts[part].add(fold(word));
      }
      at += length;
      continue;
    }
    const word = fold(token.text);
    const measure = MEASURE_OF.get(word) ?? (isSecond(tokens, at) ? { unit: "second", dimension: "time" } : undefined);
    if (measure !== undefined) {
      measures.set(measure.unit, measure.dimension);
      at += 1;
      continue;
    }
    const digits = DIGITS_OF.get(word);
    if (digits !== undefined && digits !== "1") {
      amounts.push({ value: Number(digits), unit: unitNear(tokens, at) });
      at += 1;
      continue;
    }
    const flipped = lexicon?.flips.get(word);
    if (flipped !== undefined) denials[part] += 1;
    const isEmpty = digits === "1" || word.length < 2 || (lexicon?.empty ?? stopWords(language)).has(word);
    if (language === "es" && word.endsWith("mos") && word.length > 4) marks.add("we");
    if (!isEmpty) {
      const pair = `${word} ${fold(tokens[at + 1]?.text ?? "")}`;
      const same = lexicon?.same.get(pair) ?? lexicon?.same.get(word);
      const said = flipped ?? same ?? word;
      parts[part].add(said);
      subject ??= part === "main" ? said : null;
      if (isName(token, before, text)) names.add(word);
      if (lexicon?.same.has(pair) === true) at += 1;
    }
    at += 1;
  }
  const total =
    lexicon === undefined
      ? Number(hasTurn(text, "denial", language) ?? false)
      : denials.main + denials.exception + denied.main + denied.exception;
  if (lexicon === undefined && hasTurn(text, "restriction", language) === true) marks.add("only");
  const isOnlyIf = marks.has("only") && parts.condition.size > 0 && !marks.has("except");
  if (isOnlyIf) marks.delete("only");
  return {
    text,
    language,
    words: new Set([...parts.main, ...parts.condition, ...parts.exception]),
    amounts: joinRanges(amounts),
    measures,
    isDenied: (total + Number(isOnlyIf)) % 2 === 1,
    isConditionDenied: (denials.condition + denied.condition + Number(isOnlyIf)) % 2 === 1,
    condition: parts.condition.size > 0 ? parts.condition : null,
    exception: parts.exception.size > 0 ? parts.exception : null,
    marks,
    allOf,
    letsYou,
    names,
    codes,
    subject,
    inherited: new Set(),
  };
}

function phraseAt(tokens: readonly Token[], at: number, { phrases }: Lexicon): { kind: Kind; length: number } | null {
  for (let length = Math.min(MAX_PHRASE_WORDS, tokens.length - at); length > 0; length -= 1) {
    const texts = tokens.slice(at, at + length).map(({ text }) => text);
    const kind = phrases.get(texts.join(" ")) ?? phrases.get(texts.map(fold).join(" "));
    if (kind !== undefined) return { kind, length };
  }
  return null;
}

/** "every two weeks", "every Monday": how often, and not without exception. */
function isFrequency(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at];
  return (
    next !== undefined &&
    (next.kind === "number" ||
      MEASURE_OF.has(fold(next.text)) ||
      DIGITS_OF.has(fold(next.text)) ||
      fold(next.text) === "other")
  );
}

/** "a second one" is no time. */
function isSecond(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  return (
    /^(?:second|segundo)$/i.test(tokens[at]?.text ?? "") && /^(?:per|por|each|every|one|1)$/i.test(before?.text ?? "")
  );
}

function isName(token: Token, before: Token | undefined, text: string): boolean {
  if (!/^\p{Lu}/u.test(token.text) || before === undefined) return false;
  return !/[.!?:;"“„«(\n]\s*$/u.test(text.slice(0, token.index));
}

const WITHOUT = /^(?:without|ohne|sin)$/i;
const SIGN_BEFORE = /^[€$£]$/;

function readAmount(tokens: readonly Token[], at: number): Amount {
  const { kind, text } = tokens[at] as Token;
  if (kind === "number") return { value: Number([...numbersIn(text)][0] ?? Number.NaN), unit: unitNear(tokens, at) };
  const [, hours = "0", minutes = "0", half = ""] = /(\d{1,2})(?:[:.](\d{2}))?\s?([ap]?)/i.exec(text) ?? [];
  const hour = half === "" ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return { value: hour * 60 + Number(minutes), unit: "clock" };
}

/** The unit that a number has: the sign before it, or the next word or the one behind that ("five working days"). */
function unitNear(tokens: readonly Token[], at: number): string | null {
  const before = tokens[at - 1];
  if (before !== undefined && SIGN_BEFORE.test(before.text)) return MEASURE_OF.get(before.text)?.unit ?? null;
  for (const token of tokens.slice(at + 1, at + 4)) {
    const measure = MEASURE_OF.get(fold(token.text));
    const isCounted = ["time", "money", "data", "weight", "length"].includes(measure?.dimension ?? "");
    if (measure !== undefined) return isCounted ? measure.unit : null;
    if (token.kind === "number" || token.kind === "clock") continue;
    // "a month" behind a number is how often.
    if (/^(?:a|an|per|pro|je|al|por|each|every|the)$/i.test(token.text)) return null;
  }
  return null;
}

/** "from 3 to 10 pm", "von 15 bis 22 Uhr": the first is a time as well. */
function joinRanges(amounts: readonly Amount[]): Amount[] {
  return amounts.map((amount, index) => {
    const next = amounts[index + 1];
    if (amount.unit !== null || next?.unit !== "clock" || amount.value > 24) return amount;
    const minutes = amount.value * 60;
    return {
      value: next.value >= 720 && amount.value < 12 && minutes + 720 < next.value ? minutes + 720 : minutes,
      unit: "clock",
    };
  });
}
