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

/** The part of a stream that a terminal writes to. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Paint = Record<"bold" | "dim" | "green" | "yellow" | "red", (text: string) => string>;

/** Output of a command. */
export interface Terminal {
  readonly isJson: boolean;
  /** Whether standard output is a terminal; otherwise it may be a log that others read. */
  readonly isInteractive: boolean;
  /** Width in characters; 100 if unknown. */
  readonly width: number;
  /** Colors for the output; without effect if they are disabled. */
  readonly paint: Paint;
  /** Shows the result, once per command: the document with `--json`, otherwise the text. On standard output. */
  show(document: object, forPeople: () => string): void;
  /** Shows progress and remarks. On standard error. */
  note(text: string): void;
  /** Whether standard error is a terminal, so that a line can be updated. */
  readonly isWatched: boolean;
  /**
   * Shows the progress in the last line; null removes it. Without effect unless `isWatched`. The text must be safe
   * for a terminal, and is truncated to its width.
   */
  status(text: string | null): void;
}

const WIDTH_WITHOUT_TERMINAL = 100;

/** Moves to the beginning of the line and erases it (ECMA-48, "Erase in line"). */
const ERASE_LINE = "\r\u001b[2K";

/** Codes of ECMA-48, "Select graphic rendition": on and off. */
const STYLES: Record<keyof Paint, readonly [on: number, off: number]> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  yellow: [33, 39],
  red: [31, 39],
};

function createPaint(isColoured: boolean): Paint {
  const painter = (style: keyof Paint) => (text: string) => {
    const [on, off] = STYLES[style];
    return isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  };
  return {
    bold: painter("bold"),
    dim: painter("dim"),
    green: painter("green"),
    yellow: painter("yellow"),
    red: painter("red"),
  };
}

/** Creates the terminal of a run. Colors are only used on a terminal, and never with NO_COLOR (no-color.org). */
export function createTerminal(options: {
  stdout: OutputStream;
  stderr: OutputStream;
  isJson: boolean;
  env: Readonly<Record<string, string | undefined>>;
}): Terminal {
  const { stdout, stderr, isJson, env } = options;
  const isColoured = stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const isWatched = stderr.isTTY === true && !isJson && env["TERM"] !== "dumb";
  let status: string | null = null;

  /** Writes above the status line. */
  function above(write: () => void): void {
    if (status !== null) stderr.write(ERASE_LINE);
    write();
    if (status !== null) stderr.write(status);
  }

  return {
    isJson,
    isInteractive: stdout.isTTY === true,
    isWatched,
    // A terminal that does not know its own width reports 0.
    width: stdout.columns || WIDTH_WITHOUT_TERMINAL,
    paint: createPaint(isColoured),
    show(document, forPeople) {
      above(() => stdout.write(`${isJson ? safeJson(document) : forPeople()}\n`));
    },
    note(text) {
      above(() => stderr.write(`${text}\n`));
    },
    status(text) {
      if (!isWatched || (text === null && status === null)) return;
      const width = (stderr.columns || WIDTH_WITHOUT_TERMINAL) - 1;
      status = text === null ? null : Array.from(text).slice(0, width).join("");
      stderr.write(`${ERASE_LINE}${status ?? ""}`);
    },
  };
}
