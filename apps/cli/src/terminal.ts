import { safeJson } from "./safe-text.ts";

/** The part of a stream that a terminal writes to. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Paint = Record<"bold" | "dim" | "green" | "yellow" | "red", (text: string) => string>;

/** Where a command says what it has to say. */
export interface Terminal {
  readonly isJson: boolean;
  /** Whether standard output is a terminal; else it may be a log that is kept and read by others. */
  readonly isInteractive: boolean;
  /** Width in characters; 100 where nobody says. */
  readonly width: number;
  /** Colours for what is shown, or nothing at all where they are not wanted. */
  readonly paint: Paint;
  /** The result, once a command: the document with `--json`, else the text. On standard output. */
  show(document: object, forPeople: () => string): void;
  /** Progress and remarks for a person. On standard error. */
  note(text: string): void;
  /** Whether a person watches standard error, so that a line there can change while work goes on. */
  readonly isWatched: boolean;
  /**
   * The line below everything else that says how far the work is; null takes it away. Only where `isWatched`, else
   * nothing is written. The text must be safe for a terminal and is cut to its width.
   */
  status(text: string | null): void;
}

const WIDTH_WITHOUT_TERMINAL = 100;

/** Back to the beginning of the line, and everything in it erased (ECMA-48, "Erase in line"). */
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

/** Makes the terminal of a run. Colours only where a person looks, and never with NO_COLOR (no-color.org). */
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

  /** Writes with the status line out of the way. */
  function above(write: () => void): void {
    if (status !== null) stderr.write(ERASE_LINE);
    write();
    if (status !== null) stderr.write(status);
  }

  return {
    isJson,
    isInteractive: stdout.isTTY === true,
    isWatched,
    // A terminal that does not know its own width says 0.
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
