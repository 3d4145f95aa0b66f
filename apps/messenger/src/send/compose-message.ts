import type { Log } from "@svc/log";
import { cleanText, isRightToLeft } from "./clean-text.ts";
import { parseMarkdown } from "./parse-markdown.ts";
import { renderRichHtml } from "./render-rich-html.ts";
import { splitText } from "./split-text.ts";
import { styleMarkdown } from "./style-markdown.ts";
import { plainText } from "./styled-text.ts";
import type { StyledText } from "./styled-text.ts";

/** A reply's text as it is sent. */
export interface ComposedMessage {
  /**
   * The whole of it as one rich message (https://core.telegram.org/bots/api#inputrichmessage); null where an ordinary one
   * shows it as well, or it is too large.
   */
  rich: { html: string; is_rtl?: true } | null;
  /** The whole of it as ordinary messages. None for a text that shows nothing. */
  parts: StyledText[];
}

/**
 * Makes messages of a reply's text. The same text gives the same messages always, so that those which were sent before a
 * crash can be counted.
 */
export function composeMessage(text: string, isMarkdown: boolean, log: Log): ComposedMessage {
  const clean = cleanText(text);
  const document = isMarkdown ? tryParse(clean, log) : null;
  if (document === null) return { rich: null, parts: splitText(plainText(clean)) };
  const parts = splitText(styleMarkdown(document));
  const html = parts.length === 0 ? null : renderRichHtml(document);
  return { rich: html === null ? null : { html, ...(isRightToLeft(clean) ? { is_rtl: true } : {}) }, parts };
}

/** A text that the parser fails on is shown as it is written: it has to arrive. */
function tryParse(text: string, log: Log) {
  try {
    return parseMarkdown(text);
  } catch (error) {
    log.warn({ error, length: text.length }, "cannot parse a reply's Markdown; sending it as plain text");
    return null;
  }
}
