import { JSONPathEnvironment } from "json-p3";
import type { JSONPathQuery, JSONValue } from "json-p3";
import { HOOK_LIMITS, countChars } from "@svc/contracts";
import type { FieldError, HookCondition, HookMapping, HookTemplate } from "@svc/contracts";

/** A text with placeholders that are filled from a body. */
interface Alternative {
  parts: (string | CompiledPath)[];
  paths: CompiledPath[];
}

/** A compiled template: its alternatives in order. */
export interface CompiledTemplate {
  alternatives: Alternative[];
}

/** An error of a template, and its pointer: `/1` for the second one of a list. */
interface TemplateError {
  pointer: string;
  detail: string;
}

/** Longer than any field of a message, so that the result is rejected for its length. */
const RESULT_MAX_CHARS = 200_000;

/** The result of a template is longer than any field of a message. */
export class TooLongError extends Error {
  constructor() {
    super(`the result has more than ${RESULT_MAX_CHARS} characters`);
    this.name = "TooLongError";
  }
}

const isPresent = (value: unknown) => value !== null && value !== undefined && value !== "";
const isScalar = (value: unknown) => typeof value !== "object" || value === null;

/** Documents that paths read. */
export interface HookDocument {
  /** JSON, or the fields of a form. */
  body: unknown;
  /** Available headers, by name in lower case. */
  headers: Record<string, string>;
}

/** A compiled JSONPath. */
interface CompiledPath {
  /** The path as written. */
  path: string;
  /** Returns its matches, in the order of the body. Throws TooManyValuesError. */
  find(document: HookDocument): unknown[];
}

/** A path has more matches than any field needs. */
export class TooManyValuesError extends Error {
  constructor(path: string) {
    super(`${path} matches more than ${VALUES_MAX_COUNT} values`);
    this.name = "TooManyValuesError";
  }
}

const VALUES_MAX_COUNT = 1_000;
const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs;
const HEADERS = /^\$headers(?=[.[])/;

/** Bodies are nested less deeply than this, see `HOOK_LIMITS.bodyMaxDepth`. */
const ENVIRONMENT = new JSONPathEnvironment({ maxRecursionDepth: HOOK_LIMITS.bodyMaxDepth + 10 });

/** Fields of a mapping that are texts. */
const TEXT_FIELDS = ["text", "chatId", "userId", "webhookUrl", "eventId"] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

/** A compiled condition. */
export interface CompiledCondition {
  path: CompiledPath;
  condition: HookCondition;
}

/** A compiled mapping with its filter. */
export interface CompiledMapping {
  fields: Map<TextField, CompiledTemplate>;
  meta: Map<string, CompiledTemplate>;
  filter: CompiledCondition[];
}

/** Escapes a name for a JSON Pointer (RFC 6901). */
export const escapeName = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** A mapping with its filter, and their errors. */
export interface ReadMapping {
  compiled: CompiledMapping;
  faults: FieldError[];
}

/** A mapping has too many paths. */
class TooManyPathsError extends Error {
  constructor() {
    super(`and filter together must not contain more than ${HOOK_LIMITS.pathsMaxCount} paths`);
    this.name = "TooManyPathsError";
  }
}

/**
 * Compiles every path of a mapping and its filter. Returns their errors, with JSON Pointers such as
 * `/mapping/meta/labels` and `/filter/0/path`, and everything that is valid. A mapping with too many paths has only
 * that error: the rest is not read.
 */
export function compileMapping(mapping: HookMapping, filter: readonly HookCondition[]): ReadMapping {
  try {
    return readMapping(mapping, filter);
  } catch (error) {
    if (!(error instanceof TooManyPathsError)) throw error;
    return {
      compiled: { fields: new Map(), meta: new Map(), filter: [] },
      faults: [{ pointer: "/mapping", code: "too_many", detail: error.message }],
    };
  }
}

function readMapping(mapping: HookMapping, filter: readonly HookCondition[]): ReadMapping {
  const errors: FieldError[] = [];
  let total = 0;
  const count = () => {
    total += 1;
    if (total > HOOK_LIMITS.pathsMaxCount) throw new TooManyPathsError();
  };
  const note = (pointer: string, detail: string) => errors.push({ pointer, code: "invalid_path", detail });
  const read = (pointer: string, template: HookTemplate): CompiledTemplate | null => {
    const found: TemplateError[] = [];
    const compiled = compileTemplate(template, found, count);
    for (const error of found) note(`${pointer}${error.pointer}`, error.detail);
    return compiled;
  };

  const fields: CompiledMapping["fields"] = new Map();
  for (const field of TEXT_FIELDS) {
    const template = mapping[field];
    const compiled = template == null ? null : read(`/mapping/${field}`, template);
    if (compiled !== null) fields.set(field, compiled);
  }
  const meta: CompiledMapping["meta"] = new Map();
  for (const [name, template] of Object.entries(mapping.meta ?? {})) {
    const compiled = read(`/mapping/meta/${escapeName(name)}`, template);
    if (compiled !== null) meta.set(name, compiled);
  }
  const conditions: CompiledCondition[] = [];
  for (const [index, condition] of filter.entries()) {
    count();
    const path = compilePath(condition.path);
    if (typeof path === "string") note(`/filter/${index}/path`, path);
    else conditions.push({ path, condition });
  }
  return { compiled: { fields, meta, filter: conditions }, faults: errors };
}

/** Returns the error of a path with features that need more than one pass over the body. */
function costError(path: string): string | null {
  const bare = path.replace(QUOTED, "''");
  if ((bare.match(/\.\./g)?.length ?? 0) > 1)
    return "must not contain .. more than once; spell out the fields in between";
  if (bare.lastIndexOf("$") > 0) return "must not refer to $ in a filter; compare only with @ and constants";
  return null;
}

function compileQuery(path: string): JSONPathQuery | string {
  try {
    return ENVIRONMENT.compile(path);
  } catch (error) {
    // The message contains a position and what is expected there, of a path from the caller.
    return error instanceof Error ? error.message.slice(0, 300) : "syntax error";
  }
}

/**
 * Compiles a JSONPath (RFC 9535) of at most 500 characters, with at most one `..` and no `$` in a filter. A path that
 * begins with `$headers` reads the headers, any other the body. Returns a text if it is invalid.
 */
function compilePath(path: string): CompiledPath | string {
  if (countChars(path) > HOOK_LIMITS.pathMaxChars)
    return `a path must have at most ${HOOK_LIMITS.pathMaxChars} characters`;
  const isOfHeaders = HEADERS.test(path);
  const own = isOfHeaders ? path.replace(HEADERS, "$") : path;
  if (!own.startsWith("$")) return `${path} is not a JSONPath: it must start with $ or $headers`;
  const cost = costError(own);
  if (cost !== null) return `${path} ${cost}`;
  const query = compileQuery(own);
  if (typeof query === "string") return `${path} is not a valid JSONPath (RFC 9535): ${query}`;
  return {
    path,
    find({ body, headers }) {
      const values: unknown[] = [];
      for (const node of query.lazyQuery((isOfHeaders ? headers : body) as JSONValue)) {
        if (values.length === VALUES_MAX_COUNT) throw new TooManyValuesError(path);
        values.push(node.value);
      }
      return values;
    },
  };
}

/**
 * Reads each character once, because a template may consist of braces. `count` is called for each path before it is
 * compiled.
 */
function compileAlternative(text: string, count: () => void): Alternative | string {
  const parts: Alternative["parts"] = [];
  const paths: CompiledPath[] = [];
  let end = 0;
  for (let begin = text.indexOf("{{"); begin !== -1; begin = text.indexOf("{{", end)) {
    const close = text.indexOf("}}", begin + 2);
    if (close === -1) return "contains {{ without a matching }}";
    count();
    const path = compilePath(text.slice(begin + 2, close).trim());
    if (typeof path === "string") return path;
    if (begin > end) parts.push(text.slice(end, begin));
    parts.push(path);
    paths.push(path);
    end = close + 2;
  }
  const rest = text.slice(end);
  if (rest !== "") parts.push(rest);
  return { parts, paths };
}

/**
 * Compiles a template. Adds its errors to `errors` and then returns null. `count` is called for each path before it is
 * compiled, and may throw.
 */
function compileTemplate(template: HookTemplate, errors: TemplateError[], count: () => void): CompiledTemplate | null {
  const isList = Array.isArray(template);
  const read = (isList ? template : [template]).map((text) => compileAlternative(text, count));
  const alternatives = read.filter((alternative) => typeof alternative !== "string");
  for (const [index, detail] of read.entries()) {
    if (typeof detail === "string") errors.push({ pointer: isList ? `/${index}` : "", detail });
  }
  return alternatives.length === read.length ? { alternatives } : null;
}

/** Formats a value for people: lists of plain values with commas, other objects as JSON. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every(isScalar)) return value.map(String).join(", ");
  return JSON.stringify(value);
}

/** Returns the non-empty matches of an alternative's paths; null if one of them has none. */
function findAll({ paths }: Alternative, document: HookDocument): Map<CompiledPath, unknown[]> | null {
  const found = new Map<CompiledPath, unknown[]>();
  for (const path of paths) {
    const values = path.find(document).filter(isPresent);
    if (values.length === 0) return null;
    found.set(path, values);
  }
  return found;
}

/**
 * Returns the text of the first alternative whose paths all have matches: several values one per line, or only the
 * first. Null if there is none, or only white space. Throws TooManyValuesError, TooLongError.
 */
export function fillText(
  { alternatives }: CompiledTemplate,
  document: HookDocument,
  takes: "first" | "all",
): string | null {
  for (const alternative of alternatives) {
    const found = findAll(alternative, document);
    if (found === null) continue;
    let text = "";
    for (const part of alternative.parts) {
      const values = typeof part === "string" ? [part] : (found.get(part) ?? []);
      text += (takes === "first" ? values.slice(0, 1) : values).map(textOf).join("\n");
      if (text.length > RESULT_MAX_CHARS) throw new TooLongError();
    }
    if (text.trim() !== "") return text;
  }
  return null;
}

/**
 * Like `fillText`, but an alternative that is a single path returns the value itself, of any type, and a list for
 * several. Undefined if there is none.
 */
export function fillValue(template: CompiledTemplate, document: HookDocument): unknown {
  for (const alternative of template.alternatives) {
    const [path] = alternative.paths;
    const isPathAlone = alternative.parts.length === 1 && path !== undefined;
    const found = isPathAlone
      ? (findAll(alternative, document)?.get(path) ?? null)
      : fillText({ alternatives: [alternative] }, document, "all");
    if (found === null) continue;
    const value: unknown = Array.isArray(found) && found.length === 1 ? found[0] : found;
    if (JSON.stringify(value).length > RESULT_MAX_CHARS) throw new TooLongError();
    return value;
  }
  return undefined;
}
