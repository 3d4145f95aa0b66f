import { ServiceError, describeInvalid, describeIssue } from "@svc/contracts";
import type { FieldFault, SchemaIssue } from "@svc/contracts";

interface Issue extends SchemaIssue {
  path: PropertyKey[];
  /** Unknown fields, where that is the fault. */
  keys?: PropertyKey[];
}

/** What is needed of a schema. */
interface Schema<Output> {
  safeParse(input: unknown): { success: true; data: Output } | { success: false; error: { issues: readonly Issue[] } };
}

/** Faults that are told at once, so that a body of nothing but faults gets no answer that is larger than itself. */
const MAX_FAULTS = 100;
/** Characters of a field's name that are told. */
const MAX_NAME_CHARS = 100;

/** A JSON Pointer (RFC 6901); names of fields that nobody knows may be of any length and are cut. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path
    .map((part) => String(part).slice(0, MAX_NAME_CHARS).replaceAll("~", "~0").replaceAll("/", "~1"))
    .map((part) => `/${part}`)
    .join("");
}

function asFaults(issue: Issue): FieldFault[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => ({
      pointer: pointerTo([...issue.path, key]),
      code: "unknown_field",
      detail: "is not a known field",
    }));
  }
  return [{ pointer: pointerTo(issue.path), ...describeIssue(issue) }];
}

/** The faults of one parameter that stands beside an input, at this JSON Pointer; none when the schema takes it. */
export function faultsOf(schema: Schema<unknown>, input: unknown, pointer: string): FieldFault[] {
  const parsed = schema.safeParse(input);
  return parsed.success ? [] : parsed.error.issues.map((issue) => ({ pointer, ...describeIssue(issue) }));
}

/** An `invalid_request` with these faults; `what` begins its text. */
export function invalidInput(faults: readonly FieldFault[], what: string): ServiceError {
  return new ServiceError("invalid_request", describeInvalid(what, faults), {
    errors: faults.slice(0, MAX_FAULTS),
  });
}

/**
 * What a schema makes of an input. Throws invalid_request with all its faults, unknown fields one by one, each with the
 * JSON Pointer to its place, after those that the caller has found itself; `what` begins the text.
 */
export function checkInput<Output>(
  schema: Schema<Output>,
  input: unknown,
  what: string,
  found: readonly FieldFault[] = [],
): Output {
  const parsed = schema.safeParse(input);
  if (parsed.success && found.length === 0) return parsed.data;
  throw invalidInput([...found, ...(parsed.success ? [] : parsed.error.issues.flatMap(asFaults))], what);
}
