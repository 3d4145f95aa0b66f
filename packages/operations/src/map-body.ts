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

/** Number of hooks with a cached mapping. A compiled mapping needs at most some ten kilobytes. */
const MAX_HOOKS = 200;

/** Cache of compiled mappings. */
interface MappingCache {
  /** Returns the compiler of a hook's mapping, which compiles each version once while it is in the cache. */
  readerOf(hook: Pick<Hook, "id" | "version">): ReadHookMapping;
}

/** The work was interrupted because it took too long. */
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

/** Maximum number of attempts: if the process itself was starved of CPU, the work gets twice the time. */
const MAX_ATTEMPTS = 3;

/** Result of mapping a body; with `failed`, everything that could be mapped, and the errors. */
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

/** Conditions for accepting a callback. */
interface CallbackRules {
  guard: Pick<AddressGuard, "checkUrl">;
  /** A hook's callbacks are signed by the webhook secret, because it has no API key. */
  hasWebhookSecret: boolean;
}

/**
 * A mapping that reads a body of 1 MB a hundred times needs a tenth of this; a slower one is malicious, and would block
 * the process.
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

/** Without these the message would be wrong: outside its chat, or an undetected duplicate. */
const REQUIRED: ReadonlySet<TextField> = new Set(["text", "chatId", "eventId"]);

/** Compiles a mapping, or returns a compiled one. */
type ReadHookMapping = (mapping: HookMapping, filter: readonly HookCondition[]) => ReadMapping;

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

/** Returns the error of one field's values; throws other errors, which are internal. */
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

/** Returns the errors of mapped fields that a message does not accept. */
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

/** Returns the errors of a mapping and its filter, within a quarter of a second in any case. */
export function findMappingErrors(mapping: HookMapping, filter: readonly HookCondition[]): FieldError[] {
  try {
    return withinTime(LIMIT_MS, () => compileMapping(mapping, filter).faults);
  } catch (error) {
    if (!(error instanceof TookTooLongError)) throw error;
    return [tooSlow(`takes longer than ${LIMIT_MS} ms to compile; use shorter paths`)];
  }
}

/**
 * Maps a body: returns the message, `ignored` if the filter does not match, or `failed` with every error, each with a
 * JSON Pointer into the hook. Takes at most a quarter of a second for any paths and body. `read` may return a cached
 * mapping.
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

/** Runs once; returns true if it was interrupted. */
function isBrokenOff(run: () => void, limitMs: number): boolean {
  SCOPE.run = run;
  try {
    // Node's watchdog of `timeout` also stops code outside the script, including regular expressions.
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
 * Runs synchronous work that may never end, such as evaluating an untrusted expression, and interrupts it after
 * `limitMs`: it must be safe to interrupt at any point, and to repeat. Throws TookTooLongError, and the work's own
 * errors. The work is a function; no text is executed as code.
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
        // Moves it to the end, so that the first entry is the least recently used one.
        kept.delete(id);
        kept.set(id, { version, read });
        const [oldest] = kept.keys();
        if (kept.size > MAX_HOOKS && oldest !== undefined) kept.delete(oldest);
        return read;
      },
  };
}
