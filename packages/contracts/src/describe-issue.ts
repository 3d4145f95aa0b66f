/** An issue reported by a schema; zod's issues fit. */
export interface SchemaIssue {
  code: string;
  message: string;
  params?: unknown;
  /** Errors of an invalid name of a record, for code `invalid_key`. */
  issues?: readonly SchemaIssue[];
}

const WRONG_TYPE = /^Invalid input: expected (\w+), received (\w+)$/;

/** zod's default messages that name types of the language, and the words that callers read instead. */
const REWORDED: readonly [RegExp, (...parts: string[]) => string][] = [
  [
    /^Invalid option: expected one of (.+)$/,
    (values = "") => `must be one of ${values.replaceAll('"', "").replaceAll("|", ", ")}`,
  ],
  [/^Invalid input: expected (".*"|\S+)$/, (value = "") => `must be ${value}`],
  [/^Too big: expected \w+ to have <=(\d+) (\w+)$/, (count = "", unit = "") => `must have at most ${count} ${unit}`],
  [/^Too small: expected \w+ to have >=(\d+) (\w+)$/, (count = "", unit = "") => `must have at least ${count} ${unit}`],
  [/^Too big: expected \w+ to be <=(\S+)$/, (limit = "") => `must be at most ${limit}`],
  [/^Too small: expected \w+ to be >=(\S+)$/, (limit = "") => `must be at least ${limit}`],
  [/^Too big: expected \w+ to be <(\S+)$/, (limit = "") => `must be less than ${limit}`],
  [/^Too small: expected \w+ to be >(\S+)$/, (limit = "") => `must be greater than ${limit}`],
  [/^Unrecognized keys?: (.+)$/, (keys = "") => `must not contain the unknown field ${keys}`],
  [/^Invalid string: must (.+)$/, (rule = "") => `must ${rule}`],
  [/^Invalid (?!input\b)(.+)$/, (format = "") => `is not a valid ${format}`],
];

/** The code that one of our own schemas gave an issue; undefined if it gave none. */
function ownCodeOf({ params }: SchemaIssue): string | undefined {
  if (typeof params !== "object" || params === null || !("code" in params)) return undefined;
  return typeof params.code === "string" ? params.code : undefined;
}

function reword(message: string): string {
  for (const [pattern, write] of REWORDED) {
    const match = pattern.exec(message);
    if (match !== null) return write(...match.slice(1));
  }
  return message;
}

/** Returns an issue as callers see it: a code, and what the value must be. */
export function describeIssue(issue: SchemaIssue): { code: string; detail: string } {
  const [, expected, received] = WRONG_TYPE.exec(issue.message) ?? [];
  if (expected !== undefined) {
    if (received === "undefined") return { code: "required", detail: "is required" };
    return { code: issue.code, detail: `must be ${/^[aeio]/.test(expected) ? "an" : "a"} ${expected}` };
  }
  const [ofName] = issue.code === "invalid_key" ? (issue.issues ?? []) : [];
  if (ofName !== undefined)
    return { code: issue.code, detail: `is not a valid name: it ${describeIssue(ofName).detail}` };
  const code = ownCodeOf(issue) ?? (issue.code === "custom" ? "invalid" : issue.code);
  return { code, detail: reword(issue.message) };
}

/** Returns the `detail` of an `invalid_request`: what is invalid, and its first error by its JSON Pointer. */
export function describeInvalid(what: string, errors: readonly { pointer: string; detail: string }[]): string {
  const [first] = errors;
  if (first === undefined) return `${what} is not valid.`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  if (first.pointer === "" && first.detail.startsWith("must ")) return `${what} ${first.detail}${more}.`;
  return `${what} is not valid: ${first.pointer === "" ? "" : `${first.pointer} `}${first.detail}${more}.`;
}
