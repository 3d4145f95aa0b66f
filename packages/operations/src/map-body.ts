import { Script, createContext } from "node:vm";
import { HOOK_LIMITS, countChars, describeIssue, isMalformedText, messageRequestSchema } from "@svc/contracts";
import type { FieldError, HookCondition, HookMapping } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import type { AddressGuard } from "@svc/outbound";
import type { Hook } from "@svc/store";
import {
  compileMapping,
  escapeName,
  TooManyValuesError,
  TooLongError,
  fillText,
  fillValue,
} from "./compile-mapping.ts";
import type {
  CompiledCondition,
  CompiledMapping,
  ReadMapping,
  TextField,
  HookDocument,
  CompiledTemplate,
} from "./compile-mapping.ts";

/** Hooks whose mappings are kept, those used last. A mapping that was read takes some ten kilobytes, mostly less. */
const MAX_HOOKS = 200;

/** Mappings that have been read. */
export interface MappingCache {
  /** What reads the mapping of a hook: only once a version of it, as long as it is among those used last. */
  readerOf(hook: Pick<Hook, "id" | "version">): ReadHookMapping;
}

/** Thrown in place of a result that took too long. */
class TookTooLongError extends Error {
  constructor(limitMs: number) {
    super(`time limit of ${limitMs} ms exceeded`);
    this.name = "TookTooLongError";
  }
}

const SCRIPT = new Script("run()");
const SCOPE: { run: () => void } = { run: () => undefined };
const CONTEXT = createContext(SCOPE);

const isTimeout = (error: unknown): boolean => errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** A process that gets no turn while the time passes has not been slow: it is given twice the time, so often. */
const MAX_ATTEMPTS = 3;

/** What a mapping makes of a body; with `failed`, as much of it as could be made, and why it is no message. */
export interface MappedBody {
  outcome: "mapped" | "ignored" | "failed";
  text: string | null;
  chatId: string | null;
  userId: string | null;
  meta: Record<string, unknown>;
  webhookUrl: string | null;
  eventId: string | null;
  faults: FieldError[];
}

/** What decides whether a callback can be promised. */
export interface CallbackRules {
  guard: Pick<AddressGuard, "checkUrl">;
  /** A callback is signed by the webhook secret: a hook has no API key that could. */
  hasWebhookSecret: boolean;
}

/**
 * A mapping that walks a whole body of 1 MB a hundred times takes a tenth of this; what takes longer is meant to, and
 * holds up everybody else meanwhile.
 */
const LIMIT_MS = 250;
const NOTHING: MappedBody = {
  outcome: "mapped",
  text: null,
  chatId: null,
  userId: null,
  meta: {},
  webhookUrl: null,
  eventId: null,
  faults: [],
};

/** Without these the message would be another one: one without the chat that it belongs to, or a repeat unnoticed. */
const REQUIRED: ReadonlySet<TextField> = new Set(["text", "chatId", "eventId"]);

/** What stands for a mapping that has been read, or reads it. */
export type ReadHookMapping = (mapping: HookMapping, filter: readonly HookCondition[]) => ReadMapping;

export const WEBHOOK_SECRET_ERROR: FieldError = {
  pointer: "/mapping/webhookUrl",
  code: "no_webhook_secret",
  detail:
    "callbacks of a hook must be signed with a project's webhook secret; set one with: svc webhook secret --generate",
};

const listOf = (values: HookCondition["equals"]): readonly unknown[] =>
  values === undefined ? [] : Array.isArray(values) ? values : [values];

function isMet({ path, condition: { equals, not } }: CompiledCondition, document: HookDocument): boolean {
  const values = path.find(document);
  const isOneOf = (wanted: HookCondition["equals"]) => values.some((value) => listOf(wanted).includes(value));
  if (equals === undefined && not === undefined) return values.length > 0;
  return (equals === undefined || isOneOf(equals)) && (not === undefined || !isOneOf(not));
}

/** What an error of one field's values is called; other errors are ours. */
function valueError(pointer: string, error: unknown): FieldError {
  if (error instanceof TooManyValuesError) return { pointer, code: "too_many", detail: error.message };
  if (error instanceof TooLongError) return { pointer, code: "too_long", detail: error.message };
  throw error;
}

const nothingFound = (field: string, template: CompiledTemplate): FieldError => {
  const paths = template.alternatives.flatMap((alternative) => alternative.paths.map(({ path }) => path));
  const pathList = [...new Set(paths)].slice(0, HOOK_LIMITS.alternativesMaxCount).join(", ");
  return { pointer: `/mapping/${field}`, code: "nothing_found", detail: `no value found in this body at ${pathList}` };
};

/** Fills all templates. A template with an error leaves its field out. */
function fill({ fields, meta }: CompiledMapping, document: HookDocument): MappedBody {
  const mapped: MappedBody = { ...NOTHING, faults: [] };
  for (const [field, template] of fields) {
    try {
      mapped[field] = fillText(template, document, field === "text" ? "all" : "first");
      if (mapped[field] === null && REQUIRED.has(field)) mapped.faults.push(nothingFound(field, template));
    } catch (error) {
      mapped.faults.push(valueError(`/mapping/${field}`, error));
    }
  }
  const entries: [string, unknown][] = [];
  for (const [name, template] of meta) {
    try {
      const value = fillValue(template, document);
      if (value !== undefined) entries.push([name, value]);
    } catch (error) {
      mapped.faults.push(valueError(`/mapping/meta/${escapeName(name)}`, error));
    }
  }
  mapped.meta = Object.fromEntries(entries);
  return mapped;
}

/** What a message cannot take of what was mapped. */
function requestErrors(
  { text, chatId, userId, meta, webhookUrl, eventId }: MappedBody,
  { guard, hasWebhookSecret }: CallbackRules,
): FieldError[] {
  const given = Object.entries({ text, chatId, userId, meta, webhookUrl }).filter(([, value]) => value !== null);
  const parsed = messageRequestSchema.safeParse(Object.fromEntries(given));
  const errors = (parsed.error?.issues ?? []).map((issue) => ({
    pointer: `/mapping/${issue.path.map(String).join("/")}`,
    ...describeIssue(issue),
  }));
  if (webhookUrl !== null) {
    const check = guard.checkUrl(webhookUrl);
    if (!check.ok) {
      const detail = `is not allowed. ${check.reason.replace(/\.$/, "")}`;
      errors.push({ pointer: "/mapping/webhookUrl", code: "forbidden_address", detail });
    } else if (!hasWebhookSecret) {
      errors.push(WEBHOOK_SECRET_ERROR);
    }
  }
  if (eventId !== null && (isMalformedText(eventId) || countChars(eventId) > HOOK_LIMITS.eventIdMaxChars)) {
    const detail = `must have at most ${HOOK_LIMITS.eventIdMaxChars} characters, without NUL characters or unpaired surrogates`;
    errors.push({ pointer: "/mapping/eventId", code: "invalid", detail });
  }
  return errors;
}

const tooSlow = (detail: string): FieldError => ({ pointer: "/mapping", code: "too_slow", detail });

/** What is wrong with a mapping and its filter, found within a quarter of a second whatever they are. */
export function findMappingErrors(mapping: HookMapping, filter: readonly HookCondition[]): FieldError[] {
  try {
    return withinTime(LIMIT_MS, () => compileMapping(mapping, filter).faults);
  } catch (error) {
    if (!(error instanceof TookTooLongError)) throw error;
    return [tooSlow(`takes longer than ${LIMIT_MS} ms to compile; use shorter paths`)];
  }
}

/**
 * What a mapping makes of a body: the message that it becomes, `ignored` where the filter does not want it, or `failed`
 * with every error, each with a JSON Pointer into the hook. Takes at most a quarter of a second, whatever the paths and
 * the body are. `read` may know the mapping from an earlier body.
 */
export function mapBody(
  hook: { mapping: HookMapping; filter: readonly HookCondition[] },
  document: HookDocument,
  rules: CallbackRules,
  read: ReadHookMapping = compileMapping,
): MappedBody {
  try {
    return withinTime(LIMIT_MS, () => {
      const { compiled, faults: errors } = read(hook.mapping, hook.filter);
      if (errors.length > 0) return { ...NOTHING, outcome: "failed", faults: errors };
      if (!compiled.filter.every((condition) => isMet(condition, document))) return { ...NOTHING, outcome: "ignored" };
      const mapped = fill(compiled, document);
      const known = new Set(mapped.faults.map(({ pointer }) => pointer));
      mapped.faults.push(...requestErrors(mapped, rules).filter(({ pointer }) => !known.has(pointer)));
      return mapped.faults.length === 0 ? mapped : { ...mapped, outcome: "failed" };
    });
  } catch (error) {
    if (error instanceof TookTooLongError) {
      const problem = tooSlow(`takes longer than ${LIMIT_MS} ms on this body; use more specific paths`);
      return { ...NOTHING, outcome: "failed", faults: [problem] };
    }
    if (error instanceof TooManyValuesError) {
      return {
        ...NOTHING,
        outcome: "failed",
        faults: [{ pointer: "/filter", code: "too_many", detail: error.message }],
      };
    }
    throw error;
  }
}

/** Runs once; true when that was broken off. */
function isBrokenOff(run: () => void, limitMs: number): boolean {
  SCOPE.run = run;
  try {
    // Node's watchdog of `timeout` also stops what runs outside of the script, regular expressions included.
    SCRIPT.runInContext(CONTEXT, { timeout: limitMs });
    return false;
  } catch (error) {
    if (isTimeout(error)) return true;
    throw error;
  } finally {
    SCOPE.run = () => undefined;
  }
}

/**
 * Does synchronous work that may take for ever, such as evaluating an expression that somebody else has written, and
 * breaks it off after `limitMs`: it must hold nothing that a break could leave half done, and may be begun again. Throws
 * TookTooLongError, and what the work throws. The work is a function of ours; no text becomes code.
 */
function withinTime<Result>(limitMs: number, work: () => Result): Result {
  const done: ({ result: Result } | { error: unknown })[] = [];
  const run = () => {
    try {
      done.push({ result: work() });
    } catch (error) {
      done.push({ error });
    }
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const before = process.cpuUsage();
    if (!isBrokenOff(run, limitMs * 2 ** attempt)) break;
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 >= limitMs / 2) break;
  }
  const [outcome] = done;
  if (outcome === undefined) throw new TookTooLongError(limitMs);
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}

/** Creates an empty cache of the mappings of hooks. */
export function createMappingCache(): MappingCache {
  const kept = new Map<string, { version: number; read: ReadMapping }>();
  return {
    readerOf:
      ({ id, version }) =>
      (mapping, filter) => {
        const known = kept.get(id);
        const read = known?.version === version ? known.read : compileMapping(mapping, filter);
        // Taken out and put in again, so that the first one is the one that was not used for longest.
        kept.delete(id);
        kept.set(id, { version, read });
        const [oldest] = kept.keys();
        if (kept.size > MAX_HOOKS && oldest !== undefined) kept.delete(oldest);
        return read;
      },
  };
}
