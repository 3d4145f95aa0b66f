import { EVAL_FIELDS, evalLineSchema } from "./eval-line.ts";
import type { EvalLine, LineFault } from "./eval-line.ts";
import { hasWords } from "./is-in-answer.ts";

/** What a file says. */
export interface ParsedLines {
  lines: EvalLine[];
  faults: LineFault[];
  /** Fields that mean nothing here, each with the number of lines that have it. */
  unknownFields: Map<string, number>;
}

/**
 * Reads a file of one JSON object a line. All faults are found in one go, with their line numbers; empty lines are
 * skipped. Names of agents and documents are not looked up yet.
 */
export function parseEvalLines(text: string): ParsedLines {
  const parsed: ParsedLines = { lines: [], faults: [], unknownFields: new Map() };
  const lineOfId = new Map<string, number>();
  for (const [index, raw] of text.split("\n").entries()) {
    if (raw.trim() === "") continue;
    const line = index + 1;
    const read = parseLine(raw);
    if (typeof read === "string") {
      parsed.faults.push({ line, fault: read });
      continue;
    }
    for (const field of read.unknown) parsed.unknownFields.set(field, (parsed.unknownFields.get(field) ?? 0) + 1);
    const { id } = read.line;
    const earlier = id === undefined ? undefined : lineOfId.get(id);
    if (id !== undefined && earlier !== undefined) {
      parsed.faults.push({ line, fault: `id: already used in line ${earlier}` });
      continue;
    }
    if (id !== undefined) lineOfId.set(id, line);
    parsed.lines.push({ ...read.line, line });
  }
  return parsed;
}

function parseLine(raw: string): { line: Omit<EvalLine, "line">; unknown: string[] } | string {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "is not valid JSON; each line must be one object";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "is not an object; each line must be one object";
  }
  const read = evalLineSchema.safeParse(value);
  if (!read.success) {
    return read.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`).join("; ");
  }
  const empty = read.data.answer?.find((answer) => !hasWords(answer));
  if (empty !== undefined) return "answer: must not be empty or only whitespace";
  return { line: read.data, unknown: Object.keys(value).filter((field) => !EVAL_FIELDS.includes(field)) };
}
