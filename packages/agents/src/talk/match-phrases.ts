import { foldAccents, tokenize } from "@svc/text";
import { lazily } from "../language-files.ts";

/** A folded word of a message; in scripts without spaces a character. */
export interface TalkToken {
  term: string;
  /** True if punctuation precedes it, so that it begins a clause. */
  startsClause: boolean;
  /** Whether only its first letter is a capital, as in names. */
  isCapitalized: boolean;
}

/** A state of the phrases of one kind: the transitions, and whether a phrase ends here. */
interface State {
  id: number;
  kind: string;
  next: Map<string, State[]>;
  /** Transitions by prefix: `enttäusch~`. */
  prefixes: [string, State][];
  /** Transitions for any word of the clause, except a blocked one. */
  any: State[];
  isEnd: boolean;
}

/** All states in which a text may be after some words. */
interface Step {
  states: readonly State[];
  /** Kinds of the phrases that end here. */
  ends: readonly string[];
  /** Kinds with transitions for any word. */
  anyKinds: readonly string[];
  /** Returns the prefixes of transitions with which a word begins. */
  prefixesOf: (term: string) => string[];
  words: ReadonlySet<string>;
  /**
   * Steps after words that texts had here, null if no phrase goes on: by which of `anyKinds` the word may continue, as
   * bits, and by the word; "" stands for words without a transition of their own.
   */
  after: Map<string, Step | null>[];
}

/** Finds phrases in the words of a text. */
export interface PhraseMatcher {
  /** Returns the end of the longest phrase of each kind at a position. */
  match: (tokens: readonly TalkToken[], start: number) => ReadonlyMap<string, number>;
  beginnings: Beginnings;
}

/** How phrases may begin, but for those of `asides`. */
interface Beginnings {
  words: ReadonlySet<string>;
  prefixes: readonly string[];
  /** True if a phrase may begin with any word. */
  isAny: boolean;
}

const NOTHING: ReadonlyMap<string, number> = new Map();

const MAX_GAP_WORDS = 2;
const MAX_TAIL_WORDS = 12;

/** Maximum number of remembered transitions of a matcher: texts decide which there are. */
const MAX_REMEMBERED = 10_000;

/**
 * Returns the words of a text, normalized for comparison with phrases: without case and accents; a repeated letter
 * ("hiii") is reduced to one.
 */
export function talkTokens(text: string): TalkToken[] {
  let before = 0;
  return tokenize(text).map(({ term, start, end }) => {
    const startsClause = before === 0 || /[.,;:!?…\n()。、，！？؟،–—]/u.test(text.slice(before, start));
    before = end;
    return { term: foldTerm(term), startsClause, isCapitalized: /^\p{Lu}\p{Ll}+$/u.test(text.slice(start, end)) };
  });
}

/**
 * Returns a function that finds those of these prefixes with which a word begins: one look-up per length, since a language
 * has hundreds of prefixes.
 */
export function findPrefixes(prefixes: Iterable<string>): (term: string) => string[] {
  const known = new Set(prefixes);
  const lengths = [...new Set([...known].map(({ length }) => length))];
  return (term) => {
    const found: string[] = [];
    for (const length of lengths) {
      const prefix = term.slice(0, length);
      if (length <= term.length && known.has(prefix)) found.push(prefix);
    }
    return found;
  };
}

const foldTerm = (term: string) =>
  foldAccents(term)
    .toLowerCase()
    .replaceAll("'", "")
    .replace(/(\p{L})\1{2,}/gu, "$1");

/** Does the same for a script without spaces, by character. */
export function talkCharacters(tokens: readonly TalkToken[]): TalkToken[] {
  return tokens.flatMap((token) =>
    Array.from(token.term).map((term, position) => ({
      term,
      startsClause: position === 0 && token.startsClause,
      isCapitalized: false,
    })),
  );
}

/** A part of a phrase: words as written, a prefix, a gap, or alternatives. */
type Part = { text: string } | { prefix: string } | { gap: number } | { either: Part[][]; isOptional: boolean };

/** How phrases are compiled; `compilePhrases` says what each option means. */
interface PhraseOptions {
  words: Readonly<Record<string, readonly string[]>>;
  isUnspaced: boolean;
  asides: ReadonlySet<string>;
  isBlocked: (term: string, kind: string) => boolean;
}

/**
 * Creates the matcher of phrases by kind. In a phrase, `(a|b c)` is either, `[a|b]` either or nothing, `<name>` one of
 * the phrases of that name in `words`, `a~` a word that begins with a, `*` up to two words and `…` up to twelve words
 * of the same clause, none of which `isBlocked`.
 */
export function compilePhrases(
  phrases: Readonly<Record<string, readonly string[]>>,
  { words, isUnspaced, asides, isBlocked }: PhraseOptions,
): PhraseMatcher {
  const wordsOf = (text: string) => (isUnspaced ? fold(text).flatMap((word) => Array.from(word)) : fold(text));
  let states = 0;
  let ofKind = "";
  const newState = () => createState((states += 1), ofKind);
  const classes = new Map<string, Part[][]>();
  const parsePhrase = (phrase: string) => parseParts(phrase, (name) => classes.get(name) ?? missing(name));
  for (const [name, list] of Object.entries(words)) {
    classes.set(
      name,
      list.map((phrase) => parsePhrase(phrase)),
    );
  }

  /** Adds parts after these states; returns the final states. */
  function add(parts: readonly Part[], from: readonly State[]): State[] {
    return parts.reduce<State[]>((states, part) => addPart(part, states), [...from]);
  }

  function addPart(part: Part, from: State[]): State[] {
    if ("text" in part) {
      return wordsOf(part.text).reduce((states, word) => [addWord(word, states, newState())], from);
    }
    if ("prefix" in part) return [addPrefix(part.prefix, from, newState())];
    if ("gap" in part) return addGap(isUnspaced ? 2 * part.gap : part.gap, from, newState);
    const ends = addAlternatives(part.either, from);
    return part.isOptional ? [...from, ...ends] : ends;
  }

  /** Alternatives of plain words share their final state. */
  function addAlternatives(alternatives: readonly Part[][], from: State[]): State[] {
    const shared = newState();
    const ends = alternatives.flatMap((parts) => {
      const [only] = parts;
      if (only === undefined) throw new Error("an alternative of a phrase has no words");
      if (parts.length !== 1 || !("text" in only)) return add(parts, from);
      const all = wordsOf(only.text);
      const before = all.slice(0, -1).reduce((states, word) => [addWord(word, states, newState())], from);
      addWord(all.at(-1) ?? "", before, shared);
      return [];
    });
    return [...new Set([shared, ...ends])];
  }

  const parsed = Object.entries(phrases).map(([kind, list]) => ({ kind, phrases: list.map(parsePhrase) }));
  const rootsOf = () =>
    parsed.map(({ kind, phrases }) => {
      ofKind = kind;
      const root = newState();
      for (const parts of phrases) for (const end of add(parts, [root])) end.isEnd = end !== root;
      return root;
    });
  // Most languages are compiled only to see that no phrase of theirs begins with a word of a text.
  const matcher = lazily(() => createMatcher(rootsOf(), isBlocked));
  return {
    match: (tokens, start) => matcher()(tokens, start),
    beginnings: beginningsOf(parsed.filter(({ kind }) => !asides.has(kind)).map(({ phrases }) => phrases)),
  };
}

/** Returns how the phrases of several lists may begin. */
function beginningsOf(lists: readonly (readonly Part[][])[]): Beginnings {
  const words = new Set<string>();
  const prefixes: string[] = [];
  const canBeEmpty = new Map<readonly Part[][], boolean>();
  let isAny = false;

  /** Adds how one of several sequences may begin; returns whether one of them may have no words. */
  function addEach(sequences: readonly Part[][]): boolean {
    const known = canBeEmpty.get(sequences);
    if (known !== undefined) return known;
    const isEmpty = sequences.map((parts) => parts.every(addPart)).includes(true);
    canBeEmpty.set(sequences, isEmpty);
    return isEmpty;
  }

  /** Adds how a part may begin; returns whether the next part may begin the phrase as well. */
  function addPart(part: Part): boolean {
    if ("text" in part) {
      const [first] = fold(/^\s*\S+/u.exec(part.text)?.[0] ?? "");
      const word = first ?? fold(part.text)[0];
      if (word !== undefined) words.add(word);
      return word === undefined;
    }
    if ("prefix" in part) {
      prefixes.push(part.prefix);
      return false;
    }
    if ("gap" in part) {
      isAny = true;
      return true;
    }
    return addEach(part.either) || part.isOptional;
  }

  for (const list of lists) addEach(list);
  return { words, prefixes, isAny };
}

const createStep = (states: readonly State[]): Step => ({
  states,
  ends: [...new Set(states.flatMap(({ isEnd, kind }) => (isEnd ? [kind] : [])))],
  anyKinds: [...new Set(states.flatMap(({ any, kind }) => (any.length > 0 ? [kind] : [])))],
  prefixesOf: findPrefixes(states.flatMap(({ prefixes }) => prefixes.map(([prefix]) => prefix))),
  words: new Set(states.flatMap(({ next }) => [...next.keys()])),
  after: [],
});

/**
 * Creates the matcher of phrases from their first states. It follows the phrases of all kinds at once, and remembers
 * its steps: most words of most texts are then one lookup.
 */
function createMatcher(
  roots: readonly State[],
  isBlocked: (term: string, kind: string) => boolean,
): PhraseMatcher["match"] {
  const known = new Map<string, Step>();
  let transitions = 0;

  /** Returns the step of these states, the same object for the same states; null for none. */
  function stepOf(found: ReadonlySet<State>): Step | null {
    if (found.size === 0) return null;
    const states = [...found].toSorted((one, other) => one.id - other.id);
    const key = states.map(({ id }) => id).join();
    const step = known.get(key) ?? createStep(states);
    known.set(key, step);
    return step;
  }

  function go({ states }: Step, term: string, wild: readonly string[]): Step | null {
    const after = new Set<State>();
    for (const { any, kind, next, prefixes } of states) {
      for (const to of next.get(term) ?? []) after.add(to);
      for (const [prefix, to] of prefixes) if (term.startsWith(prefix)) after.add(to);
      if (wild.includes(kind)) for (const to of any) after.add(to);
    }
    return stepOf(after);
  }

  function stepAfter(step: Step, term: string, isInClause: boolean): Step | null {
    let wild = 0;
    if (isInClause) for (const [bit, kind] of step.anyKinds.entries()) if (!isBlocked(term, kind)) wild |= 1 << bit;
    const isNamed = step.words.has(term) || step.prefixesOf(term).length > 0;
    if (!isNamed && wild === 0) return null;
    const after = (step.after[wild] ??= new Map());
    const key = isNamed ? term : "";
    const remembered = after.get(key);
    if (remembered !== undefined) return remembered;
    const next = go(
      step,
      term,
      step.anyKinds.filter((_, bit) => (wild & (1 << bit)) !== 0),
    );
    after.set(key, next);
    transitions += 1;
    return next;
  }

  let first: Step | null = null;
  return (tokens, start) => {
    if (transitions >= MAX_REMEMBERED) {
      known.clear();
      first = null;
      transitions = 0;
    }
    let step: Step | null = (first ??= stepOf(new Set(roots)));
    let found: Map<string, number> | null = null;
    for (let position = start; step !== null && position < tokens.length; position += 1) {
      const { term, startsClause } = tokens[position] as TalkToken;
      step = stepAfter(step, term, position === start || !startsClause);
      for (const kind of step?.ends ?? []) (found ??= new Map()).set(kind, position + 1);
    }
    return found ?? NOTHING;
  };
}

/** Parses a phrase; `classOf` resolves `<name>`. */
function parseParts(phrase: string, classOf: (name: string) => Part[][]): Part[] {
  const tokens = phrase.match(/[()[\]|]|<[^>]*>?|[^()[\]|<]+/gu) ?? [];
  let at = 0;

  /** Parses alternatives up to a closing bracket, or the end. */
  function readAlternatives(): Part[][] {
    let parts: Part[] = [];
    const alternatives = [parts];
    for (let token = tokens[at]; token !== undefined && token !== ")" && token !== "]"; token = tokens[at]) {
      at += 1;
      if (token === "|") {
        parts = [];
        alternatives.push(parts);
      } else if (token === "(" || token === "[") {
        parts.push({ either: readAlternatives(), isOptional: token === "[" });
        if (tokens[at] !== (token === "(" ? ")" : "]")) throw new Error(`a bracket is missing in "${phrase}"`);
        at += 1;
      } else if (token.startsWith("<")) {
        if (!token.endsWith(">")) throw new Error(`a phrase cannot be read: "${phrase}"`);
        parts.push({ either: classOf(token.slice(1, -1)), isOptional: false });
      } else {
        parts.push(...readPlain(token));
      }
    }
    return alternatives;
  }

  const [parts = [], ...others] = readAlternatives();
  if (others.length > 0 || at < tokens.length) throw new Error(`a phrase has a bracket too many: "${phrase}"`);
  return parts;
}

/** Parses the words, prefixes and gaps between brackets. */
function readPlain(plain: string): Part[] {
  if (!/[…*~]/u.test(plain)) return /\S/u.test(plain) ? [{ text: plain }] : [];
  return plain.split(/(…|\*|[^\s…*]+~)/u).flatMap((piece): Part[] => {
    if (piece === "*") return [{ gap: MAX_GAP_WORDS }];
    if (piece === "…") return [{ gap: MAX_TAIL_WORDS }];
    if (piece.endsWith("~") && fold(piece).length === 1) return [{ prefix: fold(piece).join("") }];
    return /\S/u.test(piece) ? [{ text: piece }] : [];
  });
}

const createState = (id: number, kind: string): State => {
  return { id, kind, next: new Map(), prefixes: [], any: [], isEnd: false };
};

/** Adds up to `max` words of any kind. */
function addGap(max: number, from: readonly State[], newState: () => State): State[] {
  const all = [...from];
  let last = from;
  for (let count = 0; count < max; count += 1) {
    const state = newState();
    for (const before of last) before.any.push(state);
    all.push(state);
    last = [state];
  }
  return all;
}

function addPrefix(prefix: string, from: readonly State[], to: State): State {
  for (const state of from) state.prefixes.push([prefix, to]);
  return to;
}

function addWord(word: string, from: readonly State[], to: State): State {
  for (const { next } of from) {
    const known = next.get(word);
    if (known === undefined) next.set(word, [to]);
    else known.push(to);
  }
  return to;
}

const fold = (text: string): string[] =>
  // Most phrases are such words, which are their own form.
  /^[a-z ]+$/.test(text) && !/(.)\1\1/.test(text)
    ? text.split(" ").filter((word) => word !== "")
    : tokenize(text).map(({ term }) => foldTerm(term));

function missing(name: string): never {
  throw new Error(`a phrase names <${name}>, which is not among the words`);
}
