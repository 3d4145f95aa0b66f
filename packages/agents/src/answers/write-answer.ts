import { cutText } from "@svc/text";
import type { Passage } from "../answer.ts";
import { linkDefinitions } from "../passage-units.ts";
import type { Span, Unit } from "../passage-units.ts";
import { maskMarkup, showParts } from "../readable-markdown.ts";
import type { ChosenAnswer } from "./choose-answer.ts";
import { cellsOf, readTable } from "./rate-passages.ts";
import type { AnswerPart, ReadPassage } from "./rate-passages.ts";

/** An answer as shown to customers, and what it quotes of its passage verbatim. */
interface WrittenAnswer {
  text: string;
  quote: string;
}

/** Sentences, rows and blocks are cut at this length. */
const MAX_PART_CHARS = 1_000;

/** Maximum length of a list or code that is shown as a whole, when the question asks for steps or after a colon. */
const MAX_STEPS_CHARS = 900;

/** Maximum length of the further sentences shown after the first one below a term in bold. */
const MAX_BELOW_CHARS = 260;

/** Maximum length of an introduction ("Do this:") that is shown with its list or code. */
const MAX_LEAD_CHARS = 240;

/** A sentence before the best one stays before it up to this length. */
const MAX_SHORT_LEAD_CHARS = 80;

/** Matches the beginning of a sentence that depends on the one before it. */
const DEPENDS_ON_PREVIOUS =
  /^(?:(?:sind|ist|wenn|falls|are|is|if|si|se|est) )?(?:it|they|this|these|those|that|he|she|otherwise|however|also|instead|dies|diese|dieser|dieses|sie|es|er|das|dann|sonst|auch|esto|esta|este|ello|también|además|cela|ceci|ils|elles|il|elle|aussi|sinon)\b/iu;

/** Matches the end of a sentence that introduces what follows: "Run this command:". */
const INTRODUCES_NEXT = /[:：][*_\s]*$/;

/** Matches a sentence that refers to what follows it, such as a table. */
const REFERS_TO_NEXT =
  /(?<!\p{L})(?:tables?|tabellen?|tablas?|tableaux?|tabella|tabela|following|below|folgende[nrsm]?|unten|siguientes?|abajo|suivante?s?|ci-dessous|seguente|seguinte)(?!\p{L})/iu;

/** A paragraph that is bold as a whole: the term of a definition list, or a question above its answer. */
const TERM = /^\*\*(?:[^*]|\*(?!\*))+\*\*$/;

/**
 * Writes a chosen answer: first the part that answers, then the added parts. A table row is written with its column
 * headers (below the heading of its table, if there is another such table), a list item with the introduction of its list,
 * and steps as a whole. The text has no anchors and no link references without a target; soft line breaks become spaces.
 */
export function writeAnswer(
  { read, best, others: added, hasParallel }: ChosenAnswer,
  { wantsSteps }: { wantsSteps: boolean },
): WrittenAnswer {
  const { passage, units } = read;
  const shown = passage.markdown ? maskMarkup(passage.text) : passage.text;
  const list = units[best.unit];
  // Of numbered steps, some without the others mislead.
  const hasSteps = /^\d{1,9}[.)]/.test(passage.text.slice(best.start)) && added.some(({ unit }) => unit === best.unit);
  const isSteps =
    (wantsSteps || hasSteps) && best.kind === "item" && list !== undefined && list.end - list.start <= MAX_STEPS_CHARS;
  const first = isSteps ? [{ ...best, kind: "sentence" as const, start: list.start, end: list.end }] : [best];
  const rest = isSteps ? added.filter(({ unit }) => unit !== best.unit) : added;
  const context = contextOf(read, first[0] ?? best);
  const before = context.length > 0 ? context : shortLead(read, first[0] ?? best, rest);
  const others = rest.filter((part) => !before.includes(part));
  const chosen = withNeighbors(read, [
    ...before,
    ...first,
    ...others.filter(({ start }) => start > best.start),
    ...others.filter(({ start }) => start < best.start),
  ]);
  let text = hasParallel ? labelOf(passage) : "";
  let previous: AnswerPart | undefined;
  const written = new Set<string>();
  for (const part of chosen) {
    const said = sayPart(units, shown, part);
    // Reference pages repeat a sentence below several terms.
    if (said === "" || written.has(said)) continue;
    text += `${previous !== undefined ? between(units, previous, part) : text === "" ? "" : "\n\n"}${said}`;
    written.add(said);
    previous = part;
  }
  return {
    text: passage.markdown ? withLinkDefinitions(passage.text, text) : text,
    quote: quoteOf(passage, chosen, best),
  };
}

/** Returns the heading of a passage, or its title, as a label of what stands below it. */
function labelOf({ title, headingPath, markdown }: Passage): string {
  const label = headingPath.at(-1) ?? title;
  return markdown ? `**${label.replaceAll(/[\\*_`[\]<>]/g, String.raw`\$&`)}**` : label;
}

/**
 * Returns the context that a part needs before it: the introduction of its list, table or code, or the sentence it
 * refers to.
 */
function contextOf({ units, parts, passage }: ReadPassage, best: AnswerPart): AnswerPart[] {
  const at = parts.findLastIndex(({ end }) => end <= best.start);
  const previous = parts[at];
  if (previous?.kind !== "sentence") return [];
  if (previous.end - previous.start > MAX_LEAD_CHARS) return [];
  const isNext = previous.unit === best.unit - 1;
  const said = passage.text.slice(previous.start, previous.end);
  if (isNext && best.kind !== "row" && units[best.unit]?.kind !== "sentence")
    return INTRODUCES_NEXT.test(said) ? [previous] : [];
  const own = passage.text.slice(best.start, best.end).replace(/^[\W_]+/u, "");
  const isSameParagraph = units[previous.unit]?.paragraph === units[best.unit]?.paragraph;
  return isNext && isSameParagraph && best.kind === "sentence" && DEPENDS_ON_PREVIOUS.test(own) ? [previous] : [];
}

/**
 * Returns the parts with the neighbours they need: after a sentence that ends in a colon the code or list it
 * introduces, after one that refers to a table this table, after a term or question in bold the text below it, and
 * before such text its term. Adds nothing twice.
 */
function withNeighbors({ passage: { text }, units }: ReadPassage, chosen: readonly AnswerPart[]): AnswerPart[] {
  const used = new Set(chosen.map(({ unit }) => unit));
  const partOf = (at: number): AnswerPart[] => {
    const unit = units[at];
    if (unit === undefined || used.has(at)) return [];
    used.add(at);
    return [
      // A table too is cut at the end of a line.
      {
        kind: unit.kind === "code" || unit.kind === "table" ? "code" : "sentence",
        start: unit.start,
        end: unit.end,
        unit: at,
        terms: [],
      },
    ];
  };
  const isTerm = (at: number): boolean => {
    const unit = units[at];
    return unit?.kind === "sentence" && TERM.test(text.slice(unit.start, unit.end));
  };
  const isBelow = (at: number): boolean => /^[\s>]*$/.test(text.slice(units[at - 1]?.end, units[at]?.start));
  return chosen.flatMap((part) => {
    const next = part.unit + 1;
    const following = units[next];
    const above = part.kind !== "row" && isTerm(part.unit - 1) && isBelow(part.unit) ? partOf(part.unit - 1) : [];
    if (following === undefined || part.kind !== "sentence" || !isBelow(next)) return [...above, part];
    if (following.kind === "table") {
      const said = text.slice(part.start, part.end);
      const refers = INTRODUCES_NEXT.test(said) || REFERS_TO_NEXT.test(said);
      return [...above, part, ...(refers && said.length <= MAX_LEAD_CHARS ? partOf(next) : [])];
    }
    const isList = following.kind === "code" || following.kind === "list";
    const isLed = isTerm(part.unit) || (isList && INTRODUCES_NEXT.test(text.slice(part.start, part.end)));
    if (!isLed || following.end - following.start > MAX_STEPS_CHARS) return [...above, part];
    if (isTerm(next)) return [...above, part];
    const isText = ({ kind, paragraph, end }: Unit): boolean =>
      kind === "sentence" && paragraph === following.paragraph && end - following.start <= MAX_BELOW_CHARS;
    const below = units.slice(next + 1).findIndex((unit) => following.kind !== "sentence" || !isText(unit));
    const count = below === -1 ? units.length - next : below + 1;
    return [...above, part, ...Array.from({ length: count }, (_, at) => partOf(next + at)).flat()];
  });
}

/** Returns an added sentence that stays right before the best one because it is short enough not to hide it. */
function shortLead({ passage, units }: ReadPassage, best: AnswerPart, rest: readonly AnswerPart[]): AnswerPart[] {
  const previous = rest.findLast(({ end }) => end <= best.start);
  if (previous?.kind !== "sentence" || best.kind !== "sentence") return [];
  const isNext = passage.text.slice(previous.end, best.start).trim() === "";
  const isSameParagraph = units[previous.unit]?.paragraph === units[best.unit]?.paragraph;
  return isNext && isSameParagraph && previous.end - previous.start <= MAX_SHORT_LEAD_CHARS ? [previous] : [];
}

function sayPart(units: readonly Unit[], shown: string, part: AnswerPart): string {
  const unit = units[part.unit];
  if (part.kind === "row" && unit !== undefined) return sayRow(shown, unit, part);
  const said = showParts(shown.slice(part.start, part.end)).trim();
  if (part.kind === "code") return cutCode(said);
  const cut = said.length > MAX_PART_CHARS ? cutText(said, MAX_PART_CHARS) : said;
  return part.kind === "item" ? cut.replace(/^(?:[-*+•‣▪–]|\d{1,9}[.)])\s+/, "") : cut;
}

/**
 * Formats a table row as `cell · Header: cell · Header: cell`, and one of two columns whose second one has no name as `cell: cell`.
 * If the question names columns, only these and the first one are included.
 */
function sayRow(shown: string, unit: Unit, row: AnswerPart): string {
  const { columns = [] } = row;
  const cells = cellsOf(shown, row).map((cell, at) =>
    at === 0 || columns.length === 0 || columns.includes(at) ? cell : "",
  );
  const { header } = readTable(shown, unit);
  const heads = header === null ? [] : cellsOf(shown, header);
  if (cells.length === 2 && (heads[1] ?? "") === "") return cells.filter((cell) => cell !== "").join(": ");
  const said = cells.flatMap((cell, at) => {
    const head = heads[at] ?? "";
    return cell === "" ? [] : [head === "" || at === 0 ? cell : `${head}: ${cell}`];
  });
  return cutText(said.join(" · "), MAX_PART_CHARS);
}

function cutCode(code: string): string {
  if (code.length <= MAX_PART_CHARS) return code;
  const fence = /^\s*(`{3,}|~{3,})/.exec(code)?.[1];
  const lines = code.slice(0, MAX_PART_CHARS).split("\n").slice(0, -1);
  return [...lines, "…", ...(fence === undefined ? [] : [fence])].join("\n");
}

/**
 * Returns the separator of two parts: sentences of one paragraph share a line, everything else starts a paragraph, as
 * Markdown lists require.
 */
function between(units: readonly Unit[], previous: AnswerPart, part: AnswerPart): string {
  const [from, to] = [units[previous.unit], units[part.unit]];
  const isProse = from?.kind === "sentence" && to?.kind === "sentence";
  return isProse && from.paragraph === to.paragraph && previous.end <= part.start ? " " : "\n\n";
}

/** Returns the quote: the part that answers, verbatim, with the used text directly before and after it. */
function quoteOf({ text }: Passage, parts: readonly AnswerPart[], best: AnswerPart): string {
  const spans: Span[] = [];
  for (const { start, end } of [...parts].sort((a, b) => a.start - b.start)) {
    const last = spans.at(-1);
    if (last !== undefined && text.slice(last.end, start).trim() === "") last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  const own = spans.find(({ start, end }) => start <= best.start && best.end <= end) ?? best;
  return text.slice(own.start, own.end);
}

/** Appends the definitions that the links of an answer (`[words][name]`, `[name]`) need, if the passage has them. */
function withLinkDefinitions(passage: string, answer: string): string {
  const names = new Set(Array.from(answer.matchAll(/\[([^\][\n]{1,200})\]/g), ([, name = ""]) => name.toLowerCase()));
  const lines = linkDefinitions(passage)
    .filter(({ name, line }) => names.has(name) && !answer.includes(line))
    .map(({ line }) => line);
  return lines.length === 0 ? answer : `${answer}\n\n${[...new Set(lines)].join("\n")}`;
}
