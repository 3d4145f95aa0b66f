import type { Log } from "@svc/log";
import { cleanText, isBlank, isRightToLeft, parseMarkdown, plainText } from "./styled-text.ts";
import type { Run, StyledText } from "./styled-text.ts";
import { nestingOf, renderRichHtml } from "./render-html.ts";
import { styleMarkdown } from "./style-markdown.ts";

/** Limits of one message of Telegram: UTF-16 units of its text, and formatted ranges. */
const MESSAGE_LIMITS = { maxChars: 4_096, maxFormats: 90 };

/**
 * Splits a text into parts that each fit into one message, at the best position: before a block, at a line end, after
 * a sentence, between words, or else within a word, but never within a grapheme cluster. Styles continue in the next
 * part. Blank parts and white space at the boundaries are dropped; everything else is in exactly one part. The same
 * text always gives the same parts.
 */
export function splitText(styled: StyledText, limits = MESSAGE_LIMITS): StyledText[] {
  const { text } = styled;
  const parts: StyledText[] = [];
  let start = skipBlankLines(text, 0);
  while (start < text.length) {
    const end = findEnd(styled, start, limits);
    const part = slice(styled, start, end);
    if (!isBlank(part.text)) parts.push(part);
    start = skipBlankLines(text, end);
  }
  return parts;
}

/** A message never begins with an empty line, but may begin with an indented one. */
function skipBlankLines(text: string, from: number): number {
  const gap = /^(?:[^\S\n]*\n)+/.exec(text.slice(from, from + 1_000));
  return gap === null ? from : skipBlankLines(text, from + gap[0].length);
}

function findEnd(styled: StyledText, start: number, { maxChars, maxFormats }: typeof MESSAGE_LIMITS): number {
  const { text, boundaries } = styled;
  const limit = Math.min(start + maxChars, findFormatLimit(styled.runs, start, maxFormats));
  if (limit >= text.length) return text.length;
  const size = limit - start;
  const block = boundaries.findLast((position) => position <= limit && position > start);
  if (block !== undefined && block - start > size * 0.3) return block;
  const head = text.slice(start, limit);
  const line = head.lastIndexOf("\n") + 1;
  if (line > size * 0.5) return start + line;
  const sentence = lastEnd(head, /[.!?…。！？]["'”»)\]]*\s+|[。！？]/g);
  if (sentence > size * 0.5) return start + sentence;
  if (line > size * 0.3) return start + line;
  const word = lastEnd(head, /\s+/g);
  if (word > size * 0.3) return start + word;
  return findCharacterEnd(text, start, limit);
}

/** Returns the position before the first format that exceeds the limit. */
function findFormatLimit(runs: readonly Run[], start: number, maxFormats: number): number {
  let formats = 0;
  for (const run of runs) {
    if (run.end <= start) continue;
    formats += nestingOf(run.style).length;
    if (formats > maxFormats) return run.start > start ? run.start : run.end;
  }
  return Infinity;
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Returns the last end of a grapheme cluster at or before `limit`; if there is none, that of a code point. */
function findCharacterEnd(text: string, start: number, limit: number): number {
  const position = limit - start;
  const character = CHARACTERS.segment(text.slice(start, limit + 64)).containing(position);
  if (character !== undefined && character.index > 0) return start + character.index;
  const isWithinPair = /[\uDC00-\uDFFF]/.test(text.charAt(limit)) && /[\uD800-\uDBFF]/.test(text.charAt(limit - 1));
  return isWithinPair ? limit - 1 : limit;
}

function slice({ text, runs }: StyledText, start: number, end: number): StyledText {
  const part = text.slice(start, end).trimEnd();
  const last = start + part.length;
  return {
    text: part,
    runs: runs
      .filter((run) => run.start < last && run.end > start)
      .map((run) => ({
        start: Math.max(run.start, start) - start,
        end: Math.min(run.end, last) - start,
        style: run.style,
      })),
    boundaries: [],
  };
}

/** A reply's text in the forms in which it can be sent. */
export interface ComposedMessage {
  /**
   * The whole text as one rich message (https://core.telegram.org/bots/api#inputrichmessage); null if an ordinary
   * message shows it as well, or if it is too large.
   */
  rich: { html: string; is_rtl?: true } | null;
  /** The whole text as ordinary messages. Empty for a text that shows nothing. */
  parts: StyledText[];
}

/**
 * Makes messages of a reply's text. The same text always gives the same messages, so that those sent before a crash
 * can be counted.
 */
export function composeMessage(text: string, isMarkdown: boolean, log: Log): ComposedMessage {
  const clean = cleanText(text);
  const document = isMarkdown ? tryParse(clean, log) : null;
  if (document === null) return { rich: null, parts: splitText(plainText(clean)) };
  const parts = splitText(styleMarkdown(document));
  const html = parts.length === 0 ? null : renderRichHtml(document);
  return { rich: html === null ? null : { html, ...(isRightToLeft(clean) ? { is_rtl: true } : {}) }, parts };
}

/** A text that the parser fails on is sent as it is written, so that it arrives. */
function tryParse(text: string, log: Log) {
  try {
    return parseMarkdown(text);
  } catch (error) {
    log.warn({ error, length: text.length }, "cannot parse a reply's Markdown; sending it as plain text");
    return null;
  }
}
