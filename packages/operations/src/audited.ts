import type { Principal } from "@svc/auth";
import { ServiceError, integrationIdSchema } from "@svc/contracts";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import type { Store } from "@svc/store";

/** Dependencies that every audited operation has. */
export interface AuditDeps {
  store: Store;
  log?: Log;
}

/** How calls of an operation are recorded. */
export interface AuditOptions<Args, Result> {
  /**
   * Returns the object of a call, by default the first argument if it is a string, or the `id` of the result: an ID, a
   * channel, a keyed hash with its kind (`user:…`), or a model (`model:…`). Nothing else is stored.
   */
  objectOf?: (args: Args, result: Result | null, principal: Principal) => string | null;
  /** Returns the number of objects, if one call is for several; 0 leaves no row. */
  countOf?: (args: Args, result: Result) => number;
  /**
   * For what belongs to the whole installation: its row is of no project, whichever one the call has named, so that it is
   * for administrators to read and not for the keys of a project.
   */
  isGlobal?: boolean;
  /** For a check that another operation follows, which then leaves the row: only a call that fails leaves one. */
  notesOnlyFailures?: boolean;
}

/** The kind of what is meant and a keyed hash of it, where its name must not be told. */
const FINGERPRINT = /^[a-z]+:[0-9a-f]{16,64}$/;

/** A model by its id in the catalogue, written out, as only a call that has found it names it. */
const MODEL = /^model:[a-z]{1,40}:[A-Za-z0-9_.:/-]{1,250}$/;

/**
 * What may stand in the audit log as an object: ids, channels, fingerprints and models. Anything else may have been put in the
 * place of an id by a caller, and be a key that was misplaced or the name of a person.
 */
function asObject(text: string | null): string | null {
  if (text === null) return null;
  if (isUuid(text)) return text.toLowerCase();
  return integrationIdSchema.safeParse(text).success || FINGERPRINT.test(text) || MODEL.test(text) ? text : null;
}

/** Returns the object of a call: its first argument if that is a string, otherwise the ID of what it created. */
function usualObject(args: readonly unknown[], result: unknown): string | null {
  const [first] = args;
  if (typeof first === "string") return first;
  const id: unknown = typeof result === "object" && result !== null && "id" in result ? result.id : undefined;
  return typeof id === "string" ? id : null;
}

/** True when a call was given a signal that has ended it: what it throws then is whatever its caller has chosen. */
const isCancelled = (args: readonly unknown[]) =>
  args.some(
    (arg) =>
      typeof arg === "object" &&
      arg !== null &&
      "signal" in arg &&
      arg.signal instanceof AbortSignal &&
      arg.signal.aborted,
  );

/** Returns the result in the row about a failed call. */
function resultOf(error: unknown, args: readonly unknown[]): string {
  if (error instanceof ServiceError) return error.code;
  return isCancelled(args) ? "cancelled" : "internal";
}

/** Errors that already have a row in the audit log. */
const recorded = new WeakSet<object>();

/** True when an error comes from an operation that has left its row: who answers it need not leave another one. */
export function isAudited(error: object): boolean {
  return recorded.has(error);
}

/**
 * Makes an operation that leaves a row in the audit log each time it is called: who, what, on what, in which project,
 * and what became of it. A call that fails or is refused leaves one too. A call that its caller has ended leaves
 * `cancelled`.
 *
 * A row that cannot be written (the store broke off in just that moment) does not undo what was done: it is logged.
 */
export function audited<Deps extends AuditDeps, Args extends readonly unknown[], Result>(
  action: string,
  operation: (deps: Deps, principal: Principal, ...args: Args) => Promise<Result>,
  {
    objectOf = usualObject,
    countOf = () => 1,
    isGlobal = false,
    notesOnlyFailures = false,
  }: AuditOptions<Args, Result> = {},
): (deps: Deps, principal: Principal, ...args: Args) => Promise<Result> {
  return async (deps, principal, ...args) => {
    const note = async (result: string, found: string | null, count: number) => {
      const { actor, project, projectName, requestId = null } = principal;
      const about = { object: asObject(found), project: isGlobal ? null : { id: project, name: projectName } };
      const event = { actor, action, ...about, result, requestId, count };
      await deps.store.audit.append(event).catch((error: unknown) => {
        deps.log?.error({ error, event }, "failed to write an audit event");
      });
    };
    let result: Result;
    try {
      result = await operation(deps, principal, ...args);
    } catch (error) {
      await note(resultOf(error, args), objectOf(args, null, principal), 1);
      if (error instanceof ServiceError) recorded.add(error);
      throw error;
    }
    const count = notesOnlyFailures ? 0 : countOf(args, result);
    if (count > 0) await note("ok", objectOf(args, result, principal), count);
    return result;
  };
}
