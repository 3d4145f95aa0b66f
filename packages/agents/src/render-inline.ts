/**
 * Matches what may be markup within a paragraph: escapes, code, autolinks and HTML, links, emphasis, and the entities
 * that cleaned documents still have.
 */
const TOKEN =
  /\\(?:[!-/:-@[-`{-~]|(?![^\n]))|`+|<(?:(?<address>[a-z][a-z\d+.-]{1,31}:[^\s<>]{0,1000}|[^\s<>@]{1,100}@[^\s<>@]{1,200})|\/?[a-z][^<>]{0,1000})>|!?\[|\]|\*+|_+|(?<!~)~~(?!~)|&(?:amp|lt|gt|quot|nbsp|#39);/gi;

/** The target of a link, with its title. Parentheses in it may be nested twice. */
const TARGET =
  /\(\s{0,5}(?:<[^<>\n]{0,1000}>|(?:\\.|[^\s()\\]|\((?:[^\s()]|\([^\s()]{0,200}\)){0,500}\)){0,1000})(?:\s{1,5}(?:"[^"]{0,300}"|'[^']{0,300}'|\([^()]{0,300}\)))?\s{0,5}\)/y;
const MAX_NAME_CHARS = 200;
const LABEL = /\[([^\][]{0,200})\]/y;

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&nbsp;": " ",
  "&#39;": "'",
};

/** Options of `renderInline`. */
export interface InlineOptions {
  /** Names of link definitions, in lower case. */
  names: ReadonlySet<string>;
  /** Whether the alternative text of an image is shown; otherwise the image is a line break. */
  hasAlt: boolean;
}

/** A run of `*`, `_` or `~` that may begin emphasis. */
interface Opener {
  at: number;
  /** Characters of the run that no emphasis uses yet. */
  left: number;
  canClose: boolean;
}

/**
 * Returns what a reader sees in place of each UTF-16 unit of a line of Markdown: an empty string for markup, the unit
 * itself for text. Follows CommonMark but for signs that cross, such as `*a _b* c_`. Takes linear time; a parser of
 * whole documents takes several times as long, for each source of each answer.
 */
export function renderInline(text: string, { names, hasAlt }: InlineOptions): string[] {
  const signs = text.split("");
  const hide = (from: number, to: number, shown = ""): void => {
    signs.fill("", from, to);
    if (shown !== "") signs[from] = shown;
  };
  const codeEnds = findCodeEnds(text);
  const brackets: { at: number; words: number }[] = [];
  const openers: Record<string, Opener[]> = { "*": [], _: [], "~": [] };
  const token = new RegExp(TOKEN);
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [whole] = match;
    const at = match.index;
    const end = at + whole.length;
    const first = whole.charAt(0);
    switch (first) {
      case "\\":
        hide(at, at + 1);
        break;
      case "&":
        hide(at, end, ENTITIES[whole.toLowerCase()]);
        break;
      case "<":
        // The address of an autolink is text.
        hide(at, match.groups?.["address"] === undefined ? end : at + 1, /^<br[\s/>]/i.test(whole) ? "\n" : "");
        hide(end - 1, end);
        break;
      case "`": {
        const close = codeEnds.get(at);
        if (close === undefined) break;
        const code = text.slice(end, close);
        const padding = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "" ? 1 : 0;
        hide(at, end + padding);
        hide(close - padding, close + whole.length);
        token.lastIndex = close + whole.length;
        break;
      }
      case "[":
      case "!":
        brackets.push({ at, words: end });
        break;
      case "]": {
        const opener = brackets.pop();
        const linkEnd = opener === undefined ? null : findLinkEnd(text, { words: opener.words, at }, names);
        if (opener === undefined || linkEnd === null) break;
        if (opener.words - opener.at === 2 && !hasAlt) hide(opener.at, linkEnd, "\n");
        else hide(opener.at, opener.words);
        hide(at, linkEnd);
        token.lastIndex = linkEnd;
        break;
      }
      default:
        emphasize(text, { at, end }, openers[first] ?? [], hide);
    }
  }
  return signs;
}

/** Returns for each run of backticks that begins a code span where the run that ends it is. */
function findCodeEnds(text: string): Map<number, number> {
  const ends = new Map<number, number>();
  const nextOf = new Map<number, number>();
  for (const { index, 0: run } of [...text.matchAll(/`+/g)].toReversed()) {
    const next = nextOf.get(run.length);
    if (next !== undefined) ends.set(index, next);
    nextOf.set(run.length, index);
  }
  return ends;
}

/** Returns the end of a link with the given words, whose closing bracket is `at`; null if the brackets are no link. */
function findLinkEnd(
  text: string,
  { words, at }: { words: number; at: number },
  names: ReadonlySet<string>,
): number | null {
  TARGET.lastIndex = at + 1;
  if (TARGET.test(text)) return TARGET.lastIndex;
  LABEL.lastIndex = at + 1;
  const label = LABEL.exec(text);
  const end = label === null ? at + 1 : LABEL.lastIndex;
  const name = label?.[1] || (at - words <= MAX_NAME_CHARS ? text.slice(words, at) : "");
  return names.has(name.toLowerCase()) ? end : null;
}

/** Hides the signs of emphasis that a run ends, and records the run if it may begin one (CommonMark 0.31, 6.2). */
function emphasize(
  text: string,
  { at, end }: { at: number; end: number },
  openers: Opener[],
  hide: (from: number, to: number) => void,
): void {
  const [before, after] = [text.charAt(at - 1) || " ", text.charAt(end) || " "];
  const isDouble = end - at > 1;
  // Scripts without spaces have strong words beside punctuation; HTML allows that, and documents were HTML.
  const isSign = (char: string): boolean => !isDouble && /[\p{P}\p{S}]/u.test(char);
  const isSpace = (char: string): boolean => /\s/.test(char);
  const isBegin = !isSpace(after) && (!isSign(after) || isSpace(before) || isSign(before));
  const isEnd = !isSpace(before) && (!isSign(before) || isSpace(after) || isSign(after));
  const isWithinWord = text.charAt(at) === "_" && isBegin && isEnd;
  const canClose = isEnd && (!isWithinWord || /[\p{P}\p{S}]/u.test(after));
  const canOpen = isBegin && (!isWithinWord || /[\p{P}\p{S}]/u.test(before));
  let left = end - at;
  while (left > 0) {
    const opener = canClose ? openers.at(-1) : undefined;
    if (opener === undefined) break;
    // A run that both begins and ends emphasis ends none whose length with its own is a multiple of three.
    if ((canOpen || opener.canClose) && (left + opener.left) % 3 === 0 && left !== opener.left) break;
    const count = Math.min(left, opener.left);
    hide(opener.at + opener.left - count, opener.at + opener.left);
    hide(end - left, end - left + count);
    opener.left -= count;
    left -= count;
    if (opener.left === 0) openers.pop();
  }
  if (canOpen && left > 0) openers.push({ at: end - left, left, canClose });
}
