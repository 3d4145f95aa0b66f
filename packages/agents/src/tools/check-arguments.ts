import { Script, createContext } from "node:vm";
import type { ErrorObject } from "ajv";
import { errorCode, isRecord } from "@svc/primitives";
import { isMalformedText } from "@svc/contracts";
import type { ArgumentSource } from "@svc/contracts";
import type { CallableTool } from "./callable-tool.ts";

/** The customer of a run, as far as their identity is verified. */
export interface ToolCustomer {
  /** True for an unverified customer, who could ask for anybody's data. */
  isAnonymous: boolean;
  /** Values of bound arguments; one that is absent is unknown in this conversation. */
  values: Readonly<Partial<Record<ArgumentSource, string>>>;
}

/** A caller with an API key and no conversation. */
export const NO_CONVERSATION: ToolCustomer = { isAnonymous: false, values: {} };

type Bindings = Readonly<Record<string, ArgumentSource>>;

const propertiesOf = ({ properties }: Record<string, unknown>): Record<string, unknown> =>
  isRecord(properties) ? properties : {};

/** Returns the JSON Schema of the arguments that a model chooses: without the bound ones. */
export function withoutBound(parameters: Record<string, unknown>, bind: Bindings): Record<string, unknown> {
  const isFree = (name: unknown) => typeof name !== "string" || !Object.hasOwn(bind, name);
  const { required } = parameters;
  return {
    ...parameters,
    properties: Object.fromEntries(Object.entries(propertiesOf(parameters)).filter(([name]) => isFree(name))),
    ...(Array.isArray(required) ? { required: required.filter(isFree) } : {}),
  };
}

/** Matches names of arguments that identify whose data is requested: "orderId", "customer_email", "account". */
const IDENTIFIER =
  /(?:^|[_.-])(?:id|ids|uuid|guid|e?mail|phone|mobile|iban|ssn|login|username|user|customer|client|account|order|invoice|ticket|contract|booking|reservation|member|patient|employee|person|number|nr|ref|reference)(?:[_.-]|$)|(?:Id|ID|Ids|Uuid|Guid|Email|Mail|Phone|Number|Nr|Ref|Reference)$/;

/** Returns the arguments with which a model could request anybody's data: identifiers that are not bound. */
export function findUnboundIdentifiers(
  parameters: Record<string, unknown>,
  bind: Bindings,
  inPath: readonly string[] = [],
): string[] {
  return Object.keys(propertiesOf(parameters)).filter(
    (name) => !Object.hasOwn(bind, name) && (inPath.includes(name) || IDENTIFIER.test(name)),
  );
}

/** Result for the model of a call that is rejected for an anonymous customer. */
export const REFUSED =
  "Not called: the customer is not authenticated, and this tool could return data of other people. Do not call it again.";

/**
 * Returns the arguments of a call with the bound ones, which override the model's; or why the call is rejected: the
 * conversation lacks a bound value, or an anonymous customer could request anybody's data. Calls that need an
 * operator's approval are not rejected for anonymous customers.
 */
export function bindArguments(
  { bind, anonymous, approval }: Pick<CallableTool, "bind" | "anonymous" | "approval">,
  { isAnonymous, values }: ToolCustomer,
  given: Record<string, unknown>,
): { arguments: Record<string, unknown> } | { refusal: string } {
  if (isAnonymous && anonymous === "refuse" && approval === "auto") return { refusal: REFUSED };
  const bound = Object.entries(bind).map(([name, source]) => [name, values[source]] as const);
  const lacking = Object.entries(bind).find(([, source]) => values[source] === undefined);
  if (lacking !== undefined) {
    return { refusal: `Not called: this conversation has no verified ${lacking[1]}. Do not call it again.` };
  }
  return { arguments: { ...given, ...Object.fromEntries(bound) } };
}

const SCRIPT = new Script("run()");
const SCOPE: { run: () => void } = { run: () => undefined };
const CONTEXT = createContext(SCOPE);

const isTimeout = (error: unknown): boolean => errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** Maximum size of the arguments of a call, in bytes of JSON. */
const ARGUMENTS_MAX_BYTES = 16 * 1024;
/** Maximum nesting depth. */
const ARGUMENTS_MAX_DEPTH = 32;
/** Time limit of one regular expression of a schema on one text, in milliseconds. */
const PATTERN_LIMIT_MS = 50;
/** Maximum number of tests of regular expressions per check; further ones count as not matching. */
const PATTERNS_MAX_COUNT = 20;
const MAX_REPORTED_ERRORS = 5;

/** Keywords that reference other schemas or change the interpretation: the server checks these. */
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

/** Keywords whose children have arbitrary names rather than keywords of JSON Schema. */
const NAMING_WORDS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Keywords with arbitrary values. */
const VALUE_WORDS: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

/** Removes references from a schema, up to the maximum depth of arguments. */
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

/** Compiles an untrusted schema: no references are followed, and regular expressions are limited in time. */
async function compile(schema: Record<string, unknown>): Promise<Validate> {
  // Imported by its default: in a bundle, a CommonJS module that is loaded lazily has no other export.
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

/** Returns why a JSON Schema cannot be used to check arguments; null if it can. */
export async function findSchemaProblem(schema: Record<string, unknown>): Promise<string | null> {
  try {
    await compile(schema);
    return null;
  } catch (error) {
    return `is not a JSON Schema: ${error instanceof Error ? error.message.slice(0, 200) : "it cannot be compiled"}`;
  }
}

/** Iterates without recursion, so that depth cannot exhaust the stack. */
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

/** Valid arguments, or their errors, for the model to correct. */
type CheckedArguments = { arguments: Record<string, unknown> } | { problem: string };

const asObject = (input: unknown): Record<string, unknown> | null =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : null;

/** Validates a model's arguments against the tool's JSON Schema, which is untrusted. */
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
 * Returns whether a text matches an untrusted regular expression; false if it takes longer than `limitMs`: some
 * expressions never end.
 */
function testPattern(pattern: RegExp, text: string, limitMs: number): boolean {
  let matches = false;
  SCOPE.run = () => {
    matches = pattern.test(text);
  };
  try {
    // Node's watchdog of `timeout` also stops code outside the script, including regular expressions.
    SCRIPT.runInContext(CONTEXT, { timeout: limitMs });
    return matches;
  } catch (error) {
    if (isTimeout(error)) return false;
    throw error;
  } finally {
    SCOPE.run = () => undefined;
  }
}
