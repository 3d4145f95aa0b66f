/**
 * Escapes plain text so that Markdown shows it as it is, with as few backslashes as that takes: passages are searched,
 * quoted and shown as they stand, and `max_connections` should stay one word (CommonMark 0.31, section 2.4).
 * A text that begins with a space follows other text, where no list or quote can begin.
 */
export function escapeMarkdown(text: string): string {
  return escapeInline(text)
    .replace(/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|={2,}\s*$|-{2,}\s*$|~{3,})/gm, "\\")
    .replace(/^(\d{1,9})([.)](?=\s|$))/gm, "$1\\$2");
}

/** Escapes text that follows other text on its line, as in a heading or a cell, where no list or quote can begin. */
export function escapeInline(text: string): string {
  return text
    .replace(/\\(?=[!-/:-@[-`{-~])/g, "\\\\")
    .replace(/`/g, "\\`")
    .replace(/(?<!\s)\*|\*(?!\s|$)/g, "\\*")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/~~/g, "\\~~")
    .replace(/\[(?=[^[\]\n]{0,200}\](?:\(|\[|:))/g, "\\[")
    .replace(/<(?=[a-z/!?])/gi, "\\<")
    .replace(/&(?=#?\w{1,32};)/g, "\\&");
}

/** Takes back what only the beginning of a line needed, for text that moves behind something. */
export function unescapeStart(markdown: string): string {
  return markdown.replace(/^(\d{1,9})\\(?=[.)])|^\\(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|=|-)/, "$1");
}
