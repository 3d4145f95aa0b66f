/**
 * Sequences that a terminal obeys instead of showing them (ECMA-48): strings such as titles and links up to their
 * end, control sequences such as colours and cursor moves, and short escapes.
 */
const SEQUENCES = [
  // oxlint-disable-next-line no-control-regex -- These are the characters that have to be found.
  /(?:\u001b[PX\]^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g,
  // oxlint-disable-next-line no-control-regex -- The same.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g,
  // oxlint-disable-next-line no-control-regex -- The same.
  /\u001b[ -/]*[0-~]/g,
];

/** What is left of control characters, but for line feed and tab. */
// oxlint-disable-next-line no-control-regex -- The same.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Embeddings, overrides and isolates: they show a text in another order than it has. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

const codeOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/**
 * A text of strangers as a terminal may show it: escape sequences and control characters are taken out, controls that
 * turn the direction of writing are made visible as `<U+202E>`. Lines and tabs stay.
 */
export function safeText(text: string): string {
  let safe = text.toWellFormed().replaceAll(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
  for (const sequence of SEQUENCES) safe = safe.replaceAll(sequence, "");
  return safe.replaceAll(CONTROLS, "").replaceAll(BIDI_CONTROLS, (character) => `<U+${codeOf(character)}>`);
}

/** The same in one line of at most `maxChars` characters, for tables. */
export function safeLine(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const characters = Array.from(safeText(text).replaceAll(/\s+/g, " ").trim());
  return characters.length <= maxChars ? characters.join("") : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/** What JSON leaves as it is although a terminal obeys it. */
const UNESCAPED_IN_JSON = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A document as JSON that means exactly the same and is harmless in a terminal. */
export function safeJson(document: object): string {
  return JSON.stringify(document, null, 2).replaceAll(
    UNESCAPED_IN_JSON,
    (character) => `\\u${codeOf(character).toLowerCase()}`,
  );
}

/** A word as a POSIX shell takes it, so that advice can be pasted whatever something is called. */
export function shellWord(text: string): string {
  return /^[\w./:@][\w./:@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Options with values as words of a command line, as in `--state dead --limit 50`; undefined ones are left out. */
export function optionWords(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(safeLine(String(value)))}`]))
    .join(" ");
}
