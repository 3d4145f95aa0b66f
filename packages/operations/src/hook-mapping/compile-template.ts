import type { HookTemplate } from "@svc/contracts";
import { compilePath } from "./compile-path.ts";
import type { CompiledPath, HookDocument } from "./compile-path.ts";

/** A text with places that are filled from a body. */
interface Alternative {
  parts: (string | CompiledPath)[];
  paths: CompiledPath[];
}

/** A template that can be filled: its alternatives in their order. */
export interface CompiledTemplate {
  alternatives: Alternative[];
}

/** What is wrong with a template, and where in it: `/1` for the second one of a list. */
export interface TemplateFault {
  pointer: string;
  detail: string;
}

/** Longer than anything that a message takes, so that it is refused for its length. */
const RESULT_MAX_CHARS = 200_000;

/** What a template gives is longer than anything that a message takes. */
export class TooLongError extends Error {
  constructor() {
    super(`the result has more than ${RESULT_MAX_CHARS} characters`);
    this.name = "TooLongError";
  }
}

/** Looks at each character once: a template may be nothing but braces. `count` is called for each path before it is read. */
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
 * Reads a template. What is wrong with it is added to `faults`; null then. `count` is called for each path before it is
 * read, and may throw.
 */
export function compileTemplate(
  template: HookTemplate,
  faults: TemplateFault[],
  count: () => void,
): CompiledTemplate | null {
  const isList = Array.isArray(template);
  const read = (isList ? template : [template]).map((text) => compileAlternative(text, count));
  const alternatives = read.filter((alternative) => typeof alternative !== "string");
  for (const [index, detail] of read.entries()) {
    if (typeof detail === "string") faults.push({ pointer: isList ? `/${index}` : "", detail });
  }
  return alternatives.length === read.length ? { alternatives } : null;
}

const isPresent = (value: unknown) => value !== null && value !== undefined && value !== "";
const isScalar = (value: unknown) => typeof value !== "object" || value === null;

/** A value as people read it: lists of plain values with commas, every other object as JSON. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every(isScalar)) return value.map(String).join(", ");
  return JSON.stringify(value);
}

/** What an alternative's paths find, each without what is empty; null when one of them finds nothing. */
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
 * The text that the first alternative gives of which every path finds something: several values one a line, or the
 * first alone. Null when there is none, or nothing but white space. Throws TooManyValuesError, TooLongError.
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
 * As `fillText`; where the alternative is one path and nothing else, the value itself, of any type, and a list where
 * there are several. Undefined when there is none.
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
