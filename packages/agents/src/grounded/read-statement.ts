import { splitSentences, stopWords } from "@svc/text";
import {
  amountAt,
  fold,
  hasTurn,
  isFrequency,
  joinRanges,
  lexiconFor,
  measureAt,
  phraseAt,
  tokensOf,
} from "./claim-lexicon.ts";
import type { Amount, Kind, Lexicon, Mark, Token } from "./claim-lexicon.ts";
import { DIGITS_OF } from "./find-foreign-parts.ts";

/** The meaning of a part of a sentence with one statement. */
export interface Statement {
  text: string;
  /** As ISO 639-1. */
  language: string;
  /** Words that carry the meaning, folded; synonyms are unified. */
  words: ReadonlySet<string>;
  amounts: readonly Amount[];
  /** Units, days and months, each with its dimension. */
  measures: ReadonlyMap<string, string>;
  /** Whether the statement, with its condition, is negated an odd number of times. */
  isDenied: boolean;
  isConditionDenied: boolean;
  /** Words of its condition; null if it has none. */
  condition: ReadonlySet<string> | null;
  /** Words after "except"; null if there are none. */
  exception: ReadonlySet<string> | null;
  marks: ReadonlySet<Mark>;
  /** What "all" applies to: the words after it, "" for "always". */
  allOf: ReadonlySet<string>;
  /** Whether it states a possibility or need rather than an action. */
  letsYou: boolean;
  /** Words with a capital letter within a sentence. */
  names: ReadonlySet<string>;
  /** Identifiers and code. */
  codes: ReadonlySet<string>;
  /** Its first word, which usually is its subject. */
  subject: string | null;
  /** Words of the part before it that it continues: "€80 for a city bicycle, for an electric one €250". */
  inherited: ReadonlySet<string>;
}

/** Addresses are compared separately; their words have no meaning here. */
const ADDRESSES = /(?<=\])\([^()\s]{1,1000}\)|<?\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s<>"'`)\]}]{1,1000}>?/gi;

const YES_OR_NO = /^(?:yes|no|ja|nein|sí|si|oui|non)\s*[,.:;–-]\s*(?=\S)/iu;

/**
 * Reads the statements of a text: sentences, split where another statement begins ("; cats are not allowed"). A leading
 * "Yes," or "No," is left out.
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

/** A part of a sentence, and whether it continues the one before. */
interface SentencePart {
  part: string;
  goesOn: boolean;
}

/** Splits a sentence where another statement begins. */
function cutStatements(sentence: string, language: string): SentencePart[] {
  const turns = (lexiconFor(language)?.turns ?? []).join("|");
  const denials = "not|never|no|kein|keine|nicht|nie|nunca|ni";
  // ", not by post" is a part of its own, ", no refund is possible" belongs to the part before it.
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

/** Splits "€80 for a city bicycle and €250 for an electric one", so that each amount has its own words. */
function cutAmounts(part: string): string[] {
  const cut: string[] = [];
  let end = 0;
  for (const piece of part.split(/(?<=[\p{L}\d)€$£%]),?\s+(?:and|und|y|while)\s+(?=\S)|,\s+(?=\S)/u)) {
    const start = part.indexOf(piece, end);
    const last = cut.at(-1);
    if (last === undefined || (saysAmount(piece) && saysAmount(last))) cut.push(piece);
    else cut[cut.length - 1] = last + part.slice(end, start + piece.length);
    end = start + piece.length;
  }
  return cut;
}

/** Returns whether a text has an amount and more than two words. */
function saysAmount(text: string): boolean {
  const tokens = tokensOf(text);
  const words = tokens.filter(({ kind }) => kind === "word");
  return (
    words.length > 2 && tokens.some(({ text: word }, at) => DIGITS_OF.has(fold(word)) || amountAt(tokens, at) !== null)
  );
}

/** Expands short forms, and replaces "los no residentes" by a word for people. */
function unfold(marked: string, language: string): string {
  const text = marked.replaceAll("**", "");
  if (language === "en") {
    return text
      .replace(/\b(?:cannot|can['’]t)\b/giu, "can not")
      .replace(/\bwon['’]t\b/giu, "will not")
      .replace(/n['’]t\b/giu, " not");
  }
  return language === "es" ? text.replace(/\b(los|las) no (?=\p{L})/giu, "$1 no-") : text;
}

/** The parts of a statement: what it says, under which condition, and with which exception. */
type Part = "main" | "condition" | "exception";

/** Intermediate result of reading a statement. */
interface Reading {
  part: Part;
  /** Where the condition or the exception begins; one at position 0 ends at the comma. */
  begins: number;
  words: Record<Part, Set<string>>;
  /** Negations that count individually, and those that form one together ("no … nada", "neither … nor"). */
  denials: Record<Part, number>;
  denied: Record<Part, number>;
  marks: Set<Mark>;
  allOf: Set<string>;
}

const WITHOUT = /^(?:without|ohne|sin)$/i;
const ALL_OF = /^(?:all|any|every|alle[nr]?|tod[oa]s|cualquier)$/i;

function readStatement(text: string, language: string): Statement {
  const lexicon = lexiconFor(language);
  const tokens = tokensOf(text);
  const reading: Reading = {
    part: "main",
    begins: 0,
    words: { main: new Set(), condition: new Set(), exception: new Set() },
    denials: { main: 0, condition: 0, exception: 0 },
    denied: { main: 0, condition: 0, exception: 0 },
    marks: new Set(),
    allOf: new Set(),
  };
  const amounts: Amount[] = [];
  const measures = new Map<string, string>();
  const names = new Set<string>();
  const codes = new Set<string>();
  let subject: string | null = null;

  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (reading.part !== "main" && reading.begins === 0 && /,\s{0,9}$/.test(text.slice(0, token.index)))
      reading.part = "main";
    if (token.kind === "code") {
      const code = fold(token.text.replaceAll("`", ""));
      codes.add(code);
      for (const { text: word } of tokensOf(code)) reading.words[reading.part].add(word);
      continue;
    }
    const phrase = lexicon === undefined || isNumeric(token) ? null : phraseAt(tokens, at, lexicon);
    if (phrase !== null) {
      readPhrase(reading, phrase, tokens, at);
      at += phrase.length - 1;
      continue;
    }
    const amount = isNumeric(token) ? amountAt(tokens, at) : null;
    const measure = amount === null ? measureAt(tokens, at) : undefined;
    const counted = amount ?? (measure === undefined ? amountAt(tokens, at) : null);
    if (measure !== undefined) measures.set(measure.unit, measure.dimension);
    else if (counted !== null) amounts.push(counted);
    else {
      const word = readWord(reading, tokens, at, { lexicon, language });
      if (word === null) continue;
      subject ??= reading.part === "main" ? word.said : null;
      if (isName(tokens, at, text)) names.add(fold(token.text));
      if (word.isPair) at += 1;
    }
  }
  return settle(reading, {
    text,
    language,
    amounts: joinRanges(amounts),
    measures,
    names,
    codes,
    subject,
    letsYou: lexicon !== undefined && tokens.some((token) => lexicon.lets.has(fold(token.text))),
  });
}

function isNumeric({ kind }: Token): boolean {
  return kind === "clock" || kind === "number";
}

function readPhrase(
  reading: Reading,
  { kind, length }: { kind: Kind; length: number },
  tokens: readonly Token[],
  at: number,
): void {
  const { part, marks } = reading;
  const next = at + length;
  const phrase = tokens.slice(at, next);
  if (kind === "not" && WITHOUT.test(phrase[0]?.text ?? "")) reading.denials[part] += 1;
  else if (kind === "not") reading.denied[part] = 1;
  else if (kind === "if" || kind === "unless" || kind === "except") {
    reading.part = kind === "except" ? "exception" : "condition";
    reading.begins = at;
    if (kind === "except") marks.add("except");
    if (kind === "unless") reading.denials.condition += 1;
  } else if (kind === "all") {
    if (isFrequency(tokens, next)) return;
    marks.add("all");
    reading.allOf.add(ALL_OF.test(phrase[0]?.text ?? "") ? fold(tokens[next]?.text ?? "") : "");
  } else if (kind === "we" || kind === "you") {
    // The actor of a condition is not the actor of the statement.
    if (part !== "condition") marks.add(kind);
  } else if (kind !== "light" && kind !== "turn") marks.add(kind);
  // Requests and payments must also occur in the quoted text as words.
  if (kind === "ask" || kind === "secret" || kind === "even" || kind === "pay") {
    for (const { text } of phrase) reading.words[part].add(fold(text));
  }
}

/** Adds a word that carries meaning, as the first of its synonyms; returns null for one that carries none. */
function readWord(
  { part, words, denials, marks }: Reading,
  tokens: readonly Token[],
  at: number,
  { lexicon, language }: { lexicon: Lexicon | undefined; language: string },
): { said: string; isPair: boolean } | null {
  const word = fold(tokens[at]?.text ?? "");
  const flipped = lexicon?.flips.get(word);
  if (flipped !== undefined) denials[part] += 1;
  // "pagamos": the verb ending marks the actor.
  if (language === "es" && word.length > 4 && word.endsWith("mos")) marks.add("we");
  if (DIGITS_OF.has(word) || word.length < 2 || (lexicon?.empty ?? stopWords(language)).has(word)) return null;
  const pair = `${word} ${fold(tokens[at + 1]?.text ?? "")}`;
  const said = flipped ?? lexicon?.same.get(pair) ?? lexicon?.same.get(word) ?? word;
  words[part].add(said);
  return { said, isPair: lexicon?.same.has(pair) === true };
}

/**
 * Converts the intermediate result to a statement. "Only if" negates the statement without its condition, like "not
 * unless".
 */
function settle(
  { words, denials, denied, marks: read, allOf }: Reading,
  rest: Omit<
    Statement,
    "words" | "marks" | "allOf" | "isDenied" | "isConditionDenied" | "condition" | "exception" | "inherited"
  >,
): Statement {
  const { text, language } = rest;
  const marks = new Set(read);
  const isKnown = lexiconFor(language) !== undefined;
  if (!isKnown && hasTurn(text, "restriction", language) === true) marks.add("only");
  const isOnlyIf = marks.has("only") && words.condition.size > 0 && !marks.has("except");
  if (isOnlyIf) marks.delete("only");
  const count = isKnown
    ? denials.main + denials.exception + denied.main + denied.exception
    : Number(hasTurn(text, "denial", language) === true);
  return {
    ...rest,
    words: new Set([...words.main, ...words.condition, ...words.exception]),
    isDenied: (count + Number(isOnlyIf)) % 2 === 1,
    isConditionDenied: (denials.condition + denied.condition + Number(isOnlyIf)) % 2 === 1,
    condition: words.condition.size > 0 ? words.condition : null,
    exception: words.exception.size > 0 ? words.exception : null,
    marks,
    allOf,
    inherited: new Set(),
  };
}

/** Returns whether a token is capitalized within a sentence. */
function isName(tokens: readonly Token[], at: number, text: string): boolean {
  const token = tokens[at];
  if (token === undefined || at === 0 || !/^\p{Lu}/u.test(token.text)) return false;
  return !/[.!?:;"“„«(\n]\s*$/u.test(text.slice(0, token.index));
}
