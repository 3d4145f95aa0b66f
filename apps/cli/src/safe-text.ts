/**
 * Sequences that a terminal interprets (ECMA-48): strings such as titles and links up to their end, control sequences
 * such as colors and cursor moves, and short escapes.
 */
const SEQUENCES = [
  // oxlint-disable-next-line no-control-regex -- Matches the characters to remove.
  /(?:\u001b[PX\]^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g,
  // oxlint-disable-next-line no-control-regex -- The same.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g,
  // oxlint-disable-next-line no-control-regex -- The same.
  /\u001b[ -/]*[0-~]/g,
];

/** Remaining control characters, except line feed and tab. */
// oxlint-disable-next-line no-control-regex -- The same.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Bidirectional embeddings, overrides and isolates, which show a text in another order. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

const codeOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/**
 * Returns an external text that is safe for a terminal: escape sequences and control characters are removed,
 * bidirectional controls are shown as `<U+202E>`. Line feeds and tabs are kept.
 */
export function safeText(text: string): string {
  let safe = text.toWellFormed().replaceAll(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
  for (const sequence of SEQUENCES) safe = safe.replaceAll(sequence, "");
  return safe.replaceAll(CONTROLS, "").replaceAll(BIDI_CONTROLS, (character) => `<U+${codeOf(character)}>`);
}

/** Like `safeText`, in one line of at most `maxChars` characters, for tables. */
export function safeLine(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const characters = Array.from(safeText(text).replaceAll(/\s+/g, " ").trim());
  return characters.length <= maxChars ? characters.join("") : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/** Characters that JSON does not escape although a terminal interprets them. */
const UNESCAPED_IN_JSON = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Returns a document as equivalent JSON that is safe for a terminal. */
export function safeJson(document: object): string {
  return JSON.stringify(document, null, 2).replaceAll(
    UNESCAPED_IN_JSON,
    (character) => `\\u${codeOf(character).toLowerCase()}`,
  );
}

/** Returns a word quoted for a POSIX shell, so that advice can be pasted. */
export function shellWord(text: string): string {
  return /^[\w./:@][\w./:@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns options with values as words of a command line, as in `--state dead --limit 50`, without undefined ones.
 */
export function optionWords(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(safeLine(String(value)))}`]))
    .join(" ");
}
