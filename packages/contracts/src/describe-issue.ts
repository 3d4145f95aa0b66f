/** What a schema says of a fault; zod's issues fit. */
export interface SchemaIssue {
  code: string;
  message: string;
  params?: unknown;
}

const WRONG_TYPE = /^Invalid input: expected (\w+), received (\w+)$/;

/** The code that a schema of ours gave a fault; undefined when it gave none. */
function ownCodeOf({ params }: SchemaIssue): string | undefined {
  if (typeof params !== "object" || params === null || !("code" in params)) return undefined;
  return typeof params.code === "string" ? params.code : undefined;
}

/** A fault as callers are told: a code, and what would be right, where zod's own words name types of the language. */
export function describeIssue(issue: SchemaIssue): { code: string; detail: string } {
  const [, expected, received] = WRONG_TYPE.exec(issue.message) ?? [];
  if (expected !== undefined) {
    if (received === "undefined") return { code: "required", detail: "is required" };
    return { code: issue.code, detail: `must be ${/^[aeio]/.test(expected) ? "an" : "a"} ${expected}` };
  }
  return { code: ownCodeOf(issue) ?? (issue.code === "custom" ? "invalid" : issue.code), detail: issue.message };
}
