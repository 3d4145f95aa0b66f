import { foldAccents, tokenize } from "@svc/text";

/** A folded word of a message; in scripts without spaces a character. */
export interface TalkToken {
  term: string;
  /** True if punctuation precedes it, so that it begins a clause. */
  startsClause: boolean;
  /** Whether only its first letter is a capital, as in names. */
  isCapitalized: boolean;
}

/** A state of the matcher: the transitions, and whether a phrase ends here. */
interface State {
  next: Map<string, State[]>;
  /** Transitions by prefix: `enttäusch~`. */
  prefixes: [string, State][];
  /** Transitions for any word of the clause, except a blocked one. */
  any: State[];
  isEnd: boolean;
}

/** Returns the end of the longest phrase of each kind at a position. */
export type PhraseMatcher = (tokens: readonly TalkToken[], start: number) => ReadonlyMap<string, number>;

const NOTHING: ReadonlyMap<string, number> = new Map();

const MAX_GAP_WORDS = 2;
const MAX_TAIL_WORDS = 12;

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

/** A part of a phrase: words, a gap, or alternatives. */
type Part = { words: string[] } | { prefix: string } | { gap: number } | { either: Part[][]; isOptional: boolean };

/**
 * Creates the matcher of phrases by kind. In a phrase, `(a|b c)` is either, `[a|b]` either or nothing, `<name>` one of
 * the phrases of that name in `words`, `a~` a word that begins with a, `*` up to two words and `…` up to twelve words
 * of the same clause, none of which `isBlocked`.
 */
export function compilePhrases(
  phrases: Readonly<Record<string, readonly string[]>>,
  {
    words,
    isUnspaced,
    isBlocked,
  }: {
    words: Readonly<Record<string, readonly string[]>>;
    isUnspaced: boolean;
    isBlocked: (term: string, kind: string) => boolean;
  },
): PhraseMatcher {
  const split = (word: string) => (isUnspaced ? Array.from(word) : [word]);
  const classes = new Map(
    Object.entries(words).map(([name, list]): [string, Part[][]] => [name, list.map((phrase) => parsePhrase(phrase))]),
  );

  /** Adds parts after these states; returns the final states. */
  function add(parts: readonly Part[], from: readonly State[]): State[] {
    return parts.reduce<State[]>((states, part) => addPart(part, states), [...from]);
  }

  function addPart(part: Part, from: State[]): State[] {
    if ("words" in part) {
      return part.words.flatMap(split).reduce((states, word) => [addWord(word, states, newState())], from);
    }
    if ("prefix" in part) return [addPrefix(part.prefix, from)];
    if ("gap" in part) return addGap(isUnspaced ? 2 * part.gap : part.gap, from);
    const ends = addAlternatives(part.either, from);
    return part.isOptional ? [...from, ...ends] : ends;
  }

  /** Alternatives of plain words share their final state. */
  function addAlternatives(alternatives: readonly Part[][], from: State[]): State[] {
    const shared = newState();
    const ends = alternatives.flatMap((parts) => {
      const [only] = parts;
      if (only === undefined) throw new Error("an alternative of a phrase has no words");
      if (parts.length !== 1 || !("words" in only)) return add(parts, from);
      const all = only.words.flatMap(split);
      const before = all.slice(0, -1).reduce((states, word) => [addWord(word, states, newState())], from);
      addWord(all.at(-1) ?? "", before, shared);
      return [];
    });
    return [...new Set([shared, ...ends])];
  }

  function parsePhrase(phrase: string): Part[] {
    return parseParts(phrase, (name) => classes.get(name) ?? missing(name));
  }

  const roots = Object.entries(phrases).map(([kind, list]): [string, State] => {
    const root = newState();
    for (const phrase of list) {
      for (const end of add(parsePhrase(phrase), [root])) end.isEnd = end !== root;
    }
    return [kind, root];
  });

  return matcherOf(roots, isBlocked);
}

/** Returns the matcher of phrases by the first state of each kind. */
function matcherOf(
  roots: readonly (readonly [kind: string, root: State])[],
  isBlocked: (term: string, kind: string) => boolean,
): PhraseMatcher {
  const beginsWith = indexBeginnings(roots.map(([, root]) => root));
  return (tokens, start) => {
    const beginning = beginsWith(tokens[start]?.term ?? "");
    if (beginning.length === 0) return NOTHING;
    const found = new Map<string, number>();
    for (const index of beginning) {
      const [kind, root] = roots[index] as (typeof roots)[number];
      const end = longestFrom(root, tokens, start, (blockable) => isBlocked(blockable, kind));
      if (end > start) found.set(kind, end);
    }
    return found;
  };
}

/**
 * Returns a function from a word to the indexes of the roots from which a phrase may begin with it, in ascending order.
 * For most words there are none, so that a text is traversed only where a phrase may begin.
 */
function indexBeginnings(roots: readonly State[]): (term: string) => readonly number[] {
  const all = [...roots.keys()];
  const always = all.filter((index) => (roots[index]?.any.length ?? 0) > 0);
  const byWord = new Map<string, number[]>();
  const byPrefix = new Map<string, [string, number][]>();
  for (const [index, { next, prefixes }] of roots.entries()) {
    for (const word of next.keys()) byWord.set(word, [...(byWord.get(word) ?? []), index]);
    for (const [prefix] of prefixes) {
      const first = prefix.charAt(0);
      byPrefix.set(first, [...(byPrefix.get(first) ?? []), [prefix, index]]);
    }
  }
  return (term) => {
    const exact = byWord.get(term) ?? always;
    const withPrefix = byPrefix.get(term.charAt(0))?.filter(([prefix]) => term.startsWith(prefix)) ?? [];
    if (withPrefix.length === 0 && (exact === always || always.length === 0)) return exact;
    const begun = new Set([...always, ...exact, ...withPrefix.map(([, index]) => index)]);
    return all.filter((index) => begun.has(index));
  };
}

function longestFrom(
  root: State,
  tokens: readonly TalkToken[],
  start: number,
  isBlocked: (term: string) => boolean,
): number {
  let longest = start;
  let states = new Set([root]);
  for (let position = start; position < tokens.length && states.size > 0; position += 1) {
    const { term, startsClause } = tokens[position] as TalkToken;
    const after = new Set<State>();
    let isWild: boolean | undefined;
    for (const state of states) {
      for (const next of state.next.get(term) ?? []) after.add(next);
      for (const [prefix, next] of state.prefixes) if (term.startsWith(prefix)) after.add(next);
      if (state.any.length === 0) continue;
      isWild ??= (position === start || !startsClause) && !isBlocked(term);
      if (isWild) for (const next of state.any) after.add(next);
    }
    for (const state of after) if (state.isEnd) longest = position + 1;
    states = after;
  }
  return longest;
}

/** Parses a phrase; `classOf` resolves `<name>`. */
function parseParts(phrase: string, classOf: (name: string) => Part[][]): Part[] {
  let at = 0;

  /** Parses alternatives up to a closing bracket, or the end. */
  function readAlternatives(): Part[][] {
    const alternatives: Part[][] = [[]];
    while (at < phrase.length && !/[)\]]/.test(phrase.charAt(at))) {
      const char = phrase.charAt(at);
      const parts = alternatives.at(-1) ?? [];
      if (char === "|") {
        alternatives.push([]);
        at += 1;
      } else if (char === "(" || char === "[") {
        at += 1;
        parts.push({ either: readAlternatives(), isOptional: char === "[" });
        if (phrase.charAt(at) !== (char === "(" ? ")" : "]")) throw new Error(`a bracket is missing in "${phrase}"`);
        at += 1;
      } else {
        parts.push(...readPlain());
      }
    }
    return alternatives;
  }

  function readPlain(): Part[] {
    const plain = /^(?:<[^>]*>|[^()[\]|<]+)/.exec(phrase.slice(at))?.[0] ?? "";
    if (plain === "") throw new Error(`a phrase cannot be read: "${phrase}"`);
    at += plain.length;
    if (plain.startsWith("<")) return [{ either: classOf(plain.slice(1, -1)), isOptional: false }];
    return plain.split(/(…|\*|[^\s…*]+~)/u).flatMap((piece) => readPiece(piece));
  }

  function readPiece(piece: string): Part[] {
    if (piece === "*") return [{ gap: MAX_GAP_WORDS }];
    if (piece === "…") return [{ gap: MAX_TAIL_WORDS }];
    if (piece.endsWith("~") && fold(piece).length === 1) return [{ prefix: fold(piece).join("") }];
    const folded = fold(piece);
    return folded.length === 0 ? [] : [{ words: folded }];
  }

  const [parts = [], ...others] = readAlternatives();
  if (others.length > 0 || at < phrase.length) throw new Error(`a phrase has a bracket too many: "${phrase}"`);
  return parts;
}

function newState(): State {
  return { next: new Map(), prefixes: [], any: [], isEnd: false };
}

function addGap(max: number, from: readonly State[]): State[] {
  const states = [...from];
  let last = from;
  for (let count = 0; count < max; count += 1) {
    const state = newState();
    for (const before of last) before.any.push(state);
    states.push(state);
    last = [state];
  }
  return states;
}

function addWord(word: string, from: readonly State[], to: State): State {
  for (const state of from) state.next.set(word, [...(state.next.get(word) ?? []), to]);
  return to;
}

function addPrefix(prefix: string, from: readonly State[]): State {
  const to = newState();
  for (const state of from) state.prefixes.push([prefix, to]);
  return to;
}

const fold = (text: string) => tokenize(text).map(({ term }) => foldTerm(term));

function missing(name: string): never {
  throw new Error(`a phrase names <${name}>, which is not among the words`);
}
