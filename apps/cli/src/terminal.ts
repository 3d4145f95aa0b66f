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
  /** Width in characters; 100 where nobody says. */
  readonly width: number;
  /** Colours for what is shown, or nothing at all where they are not wanted. */
  readonly paint: Paint;
  /** The result, once a command: the document with `--json`, else the text. On standard output. */
  show(document: object, forPeople: () => string): void;
  /** Progress and remarks for a person. On standard error. */
  note(text: string): void;
}

const WIDTH_WITHOUT_TERMINAL = 100;

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
  return {
    isJson,
    width: stdout.columns ?? WIDTH_WITHOUT_TERMINAL,
    paint: createPaint(isColoured),
    show(document, forPeople) {
      stdout.write(`${isJson ? safeJson(document) : forPeople()}\n`);
    },
    note(text) {
      stderr.write(`${text}\n`);
    },
  };
}
