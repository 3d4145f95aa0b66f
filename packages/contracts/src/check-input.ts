import { ServiceError } from "./errors.ts";
import type { FieldError } from "./errors.ts";

/** An issue reported by a schema; zod's issues fit. */
export interface SchemaIssue {
  code: string;
  message: string;
  params?: unknown;
  /** Errors of an invalid name of a record, for code `invalid_key`. */
  issues?: readonly SchemaIssue[];
}

const WRONG_TYPE = /^Invalid input: expected (\w+), received (\w+)$/;

/** zod's default messages that name language types, and their replacements. */
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

interface Issue extends SchemaIssue {
  path: PropertyKey[];
  /** Unknown fields, for code `unrecognized_keys`. */
  keys?: PropertyKey[];
}

/** The part of a zod schema that is used here. */
interface Schema<Output> {
  safeParse(input: unknown): { success: true; data: Output } | { success: false; error: { issues: readonly Issue[] } };
}

/** Maximum number of errors in a response, so that the response to a body full of errors is smaller than the body. */
const MAX_ERRORS = 100;
/** Maximum characters of a field name in a pointer. */
const MAX_NAME_CHARS = 100;

/** Returns a JSON Pointer (RFC 6901). Names of unknown fields may have any length and are truncated. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path
    .map((part) => String(part).slice(0, MAX_NAME_CHARS).replaceAll("~", "~0").replaceAll("/", "~1"))
    .map((part) => `/${part}`)
    .join("");
}

function asErrors(issue: Issue): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => ({
      pointer: pointerTo([...issue.path, key]),
      code: "unknown_field",
      detail: "is not a known field",
    }));
  }
  return [{ pointer: pointerTo(issue.path), ...describeIssue(issue) }];
}

/** Returns the errors of one parameter, at this JSON Pointer. */
export function errorsOf(schema: Schema<unknown>, input: unknown, pointer: string): FieldError[] {
  const parsed = schema.safeParse(input);
  return parsed.success ? [] : parsed.error.issues.map((issue) => ({ pointer, ...describeIssue(issue) }));
}

/** Returns an `invalid_request` with these errors. Its text starts with `what`. */
export function invalidInput(errors: readonly FieldError[], what: string): ServiceError {
  return new ServiceError("invalid_request", describeInvalid(what, errors), {
    errors: errors.slice(0, MAX_ERRORS),
  });
}

/**
 * Returns the output of a schema for an input. Throws invalid_request with every error and its JSON Pointer, one for each
 * unknown field, after the errors in `found`. Its text starts with `what`.
 */
export function checkInput<Output>(
  schema: Schema<Output>,
  input: unknown,
  what: string,
  found: readonly FieldError[] = [],
): Output {
  const parsed = schema.safeParse(input);
  if (parsed.success && found.length === 0) return parsed.data;
  throw invalidInput([...found, ...(parsed.success ? [] : parsed.error.issues.flatMap(asErrors))], what);
}
