import { Script, createContext } from "node:vm";
import { errorCode } from "@svc/primitives";
import type { ErrorObject } from "ajv";
import { isMalformedText } from "@svc/contracts";

const SCRIPT = new Script("run()");
const SCOPE: { run: () => void } = { run: () => undefined };
const CONTEXT = createContext(SCOPE);

const isTimeout = (error: unknown): boolean => errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** Bytes of the arguments of one call, as JSON. */
const ARGUMENTS_MAX_BYTES = 16 * 1024;
/** Levels that they may nest. */
const ARGUMENTS_MAX_DEPTH = 32;
/** Milliseconds that a regular expression of a schema has for one text. */
const PATTERN_LIMIT_MS = 50;
/** Texts that are tested in one check: a schema with more of them is not checked to its end. */
const PATTERNS_MAX_COUNT = 20;
const MAX_REPORTED_ERRORS = 5;

/** Words that lead out of a schema or change how it is read: the other end checks what they say. */
const SKIPPED_WORDS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$async",
  "$vocabulary",
  "$defs",
  "definitions",
  "id",
]);

/** Words below which names stand that somebody has chosen, and no words of JSON Schema. */
const NAMING_WORDS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Words below which anything may stand. */
const VALUE_WORDS: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

/** A schema without what is not to be followed; no deeper than arguments may be. */
function withoutReferences(schema: unknown, isNames = false, level = 0): unknown {
  if (typeof schema !== "object" || schema === null || level > ARGUMENTS_MAX_DEPTH) return schema;
  if (Array.isArray(schema)) return schema.map((part) => withoutReferences(part, false, level + 1));
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([word]) => isNames || !SKIPPED_WORDS.has(word))
      .map(([word, part]) => [
        word,
        !isNames && VALUE_WORDS.has(word)
          ? part
          : withoutReferences(part, !isNames && NAMING_WORDS.has(word), level + 1),
      ]),
  );
}

type Validate = ((input: unknown) => boolean) & { errors?: ErrorObject[] | null };

/** Compiles a schema of any origin: no references are followed, no expression runs for long. */
async function compile(schema: Record<string, unknown>): Promise<Validate> {
  // By its default: a bundle has no other name of a CommonJS module that is loaded when it is needed.
  const {
    default: { Ajv2020 },
  } = await import("ajv/dist/2020.js");
  let tested = 0;
  const regExp = Object.assign(
    (pattern: string, flags: string) => {
      const compiled = new RegExp(pattern, flags);
      return {
        test: (text: string) => ++tested <= PATTERNS_MAX_COUNT && testPattern(compiled, text, PATTERN_LIMIT_MS),
        // The library distinguishes expressions by this.
        toString: () => compiled.toString(),
      };
    },
    { code: "new RegExp" },
  );
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    logger: false,
    code: { regExp },
  });
  return ajv.compile(withoutReferences(schema) as Record<string, unknown>);
}

/** Why a JSON Schema cannot be used to check arguments; null when it can. */
export async function findSchemaProblem(schema: Record<string, unknown>): Promise<string | null> {
  try {
    await compile(schema);
    return null;
  } catch (error) {
    return `is not a JSON Schema: ${error instanceof Error ? error.message.slice(0, 200) : "it cannot be compiled"}`;
  }
}

/** Walks without the stack, so that depth cannot exhaust it. */
function findTextProblem(input: unknown): string | null {
  const open: { value: unknown; level: number }[] = [{ value: input, level: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, level } = next;
    if (typeof value === "string" && isMalformedText(value)) return "a string contains NUL or an unpaired surrogate";
    if (typeof value !== "object" || value === null) continue;
    if (level > ARGUMENTS_MAX_DEPTH) return `they are nested deeper than ${ARGUMENTS_MAX_DEPTH} levels`;
    for (const [name, child] of Object.entries(value)) {
      if (isMalformedText(name)) return "a name contains NUL or an unpaired surrogate";
      open.push({ value: child, level: level + 1 });
    }
  }
  return null;
}

/** Arguments that may be sent, or their errors, for the model to correct. */
export type CheckedArguments = { arguments: Record<string, unknown> } | { problem: string };

const asObject = (input: unknown): Record<string, unknown> | null =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : null;

/** Checks what a model wants to call a tool with against the tool's JSON Schema, which may be of any origin. */
export async function checkArguments(schema: Record<string, unknown>, input: unknown): Promise<CheckedArguments> {
  const given = asObject(input ?? {});
  if (given === null) return { problem: "the arguments must be an object" };
  const textProblem = findTextProblem(given);
  if (textProblem !== null) return { problem: textProblem };
  if (Buffer.byteLength(JSON.stringify(given)) > ARGUMENTS_MAX_BYTES) {
    return { problem: `the arguments are longer than ${ARGUMENTS_MAX_BYTES} bytes` };
  }
  try {
    const validate = await compile(schema);
    if (validate(given)) return { arguments: given };
    const errors = (validate.errors ?? []).slice(0, MAX_REPORTED_ERRORS);
    return { problem: errors.map(({ instancePath, message }) => `${instancePath || "/"} ${message ?? ""}`).join("; ") };
  } catch (error) {
    return {
      problem: `the tool's schema cannot be used: ${error instanceof Error ? error.message.slice(0, 200) : ""}`,
    };
  }
}

/**
 * Whether a text matches a regular expression of unknown origin; false, too, if that cannot be decided within
 * `limitMs`: some expressions never end.
 */
function testPattern(pattern: RegExp, text: string, limitMs: number): boolean {
  let matches = false;
  SCOPE.run = () => {
    matches = pattern.test(text);
  };
  try {
    // Node's watchdog of `timeout` also stops what runs outside of the script, regular expressions included.
    SCRIPT.runInContext(CONTEXT, { timeout: limitMs });
    return matches;
  } catch (error) {
    if (isTimeout(error)) return false;
    throw error;
  } finally {
    SCOPE.run = () => undefined;
  }
}
