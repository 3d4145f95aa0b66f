import { TICKET_LIMITS, safeLine } from "@svc/contracts";

/** What Markdown and HTML write around the words, by the order in which it is taken away. */
const NOISE: readonly (readonly [RegExp, string])[] = [
  [/<!--.*?-->|<\/?[a-z][^<>\n]*>(?<!<[a-z][a-z0-9+.-]*:[^<>]*>)/gis, " "],
  [/^[ \t]*(?:```|~~~)[^\n]*$/gm, " "],
  [/^[ \t]*\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+[ \t]*(?::?-{3,}:?)?[ \t]*$/gm, " "],
  [/^[ \t]*(?:[-*_][ \t]*){3,}$/gm, " "],
  [/^[ \t]*(?:>[ \t]?)+/gm, ""],
  [/^[ \t]*#{1,6}[ \t]+/gm, ""],
  [/^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?/gm, ""],
  [/!?\[([^[\]\n]*)\](?:\([^()\s]*(?:\s+"[^"\n]*")?\)|\[[^[\]\n]*\])/g, "$1"],
  [/<([a-z][a-z0-9+.-]*:[^<>\s]*)>/gi, "$1"],
  [/(?<![\w*])\*{1,3}(?=\S)([^*\n]+?)(?<=\S)\*{1,3}(?![\w*])/g, "$1"],
  [/(?<![\w_])_{1,3}(?=\S)([^_\n]+?)(?<=\S)_{1,3}(?![\w_])/g, "$1"],
  [/~~(?=\S)([^~\n]+?)(?<=\S)~~/g, "$1"],
  [/`+([^`\n]+?)`+/g, "$1"],
  [/(?:^|[ \t]+)\|(?=\s|$)/gm, " "],
  [/\\(?=[!-/:-@[-`{-~])/g, ""],
];

/** Most texts of customers have none of it. */
const MAY_BE_NOISE = /[*_`~#>|[\]<\\]|^[ \t]*[-+]/m;

/**
 * The beginning of a message as one line of plain text for a list: without Markdown, HTML tags, control and bidirectional
 * characters, at most 140 characters. Meant for texts of some hundred characters.
 */
export function plainSnippet(text: string): string {
  const plain = MAY_BE_NOISE.test(text) ? NOISE.reduce((rest, [noise, by]) => rest.replace(noise, by), text) : text;
  return safeLine(plain, TICKET_LIMITS.lastMessageMaxChars);
}
