import { HOOK_LIMITS } from "@svc/contracts";
import type { FieldFault, HookCondition, HookMapping, HookTemplate } from "@svc/contracts";
import { compilePath } from "./compile-path.ts";
import type { CompiledPath } from "./compile-path.ts";
import { compileTemplate } from "./compile-template.ts";
import type { CompiledTemplate, TemplateFault } from "./compile-template.ts";

/** Fields of a mapping that are texts. */
export const TEXT_FIELDS = ["text", "chatId", "userId", "webhookUrl", "eventId"] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

/** A condition that can be checked. */
export interface CompiledCondition {
  path: CompiledPath;
  condition: HookCondition;
}

/** A mapping and its filter that can be used. */
export interface CompiledMapping {
  fields: Map<TextField, CompiledTemplate>;
  meta: Map<string, CompiledTemplate>;
  filter: CompiledCondition[];
}

/** A name as a JSON Pointer has it (RFC 6901). */
export const escapeName = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** A mapping with its filter, and what is wrong with them. */
export interface ReadMapping {
  compiled: CompiledMapping;
  faults: FieldFault[];
}

/** There are more paths than a mapping may have. */
class TooManyPathsError extends Error {
  constructor() {
    super(`and filter together must not contain more than ${HOOK_LIMITS.pathsMaxCount} paths`);
    this.name = "TooManyPathsError";
  }
}

/**
 * Reads every path of a mapping and its filter. Answers what is wrong with them, with JSON Pointers such as
 * `/mapping/meta/labels` and `/filter/0/path`; what can be used is there all the same. Of a mapping with too many paths
 * that is the only fault: it is read no further.
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
  const faults: FieldFault[] = [];
  let total = 0;
  const count = () => {
    total += 1;
    if (total > HOOK_LIMITS.pathsMaxCount) throw new TooManyPathsError();
  };
  const note = (pointer: string, detail: string) => faults.push({ pointer, code: "invalid_path", detail });
  const read = (pointer: string, template: HookTemplate): CompiledTemplate | null => {
    const found: TemplateFault[] = [];
    const compiled = compileTemplate(template, found, count);
    for (const fault of found) note(`${pointer}${fault.pointer}`, fault.detail);
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
  return { compiled: { fields, meta, filter: conditions }, faults };
}
