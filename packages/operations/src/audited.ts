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
  /** Returns the number of objects, if a call may have several; 0 writes no row. */
  countOf?: (args: Args, result: Result) => number;
  /**
   * For operations on the whole installation: the row belongs to no project, whichever one the call names, so that only
   * administrators can read it.
   */
  isGlobal?: boolean;
  /** For a check before another operation that writes the row: only a failed call writes one. */
  notesOnlyFailures?: boolean;
}

/** The kind of an object and a keyed hash of it, if its name must not be stored. */
const FINGERPRINT = /^[a-z]+:[0-9a-f]{16,64}$/;

/** The full id of a model in the catalogue; only set by a call that has found it. */
const MODEL = /^model:[a-z]{1,40}:[A-Za-z0-9_.:/-]{1,250}$/;

/**
 * Returns a text if the audit log may store it as an object: ids, channels, fingerprints and models. A caller may have
 * sent anything else in place of an id, such as a misplaced key or a person's name.
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

/** Returns whether the signal in a call's arguments was aborted: what it throws then was chosen by its caller. */
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

/**
 * Returns whether an error comes from an operation that has written its row, so that the error handler need not write
 * another one.
 */
export function isAudited(error: object): boolean {
  return recorded.has(error);
}

/**
 * Creates an operation that writes a row to the audit log for each call: actor, action, object, project and result. A
 * failed or rejected call writes one too. A call aborted by its caller has the result `cancelled`.
 *
 * A row that cannot be written (the store failed at just that moment) does not undo the change: the error is logged.
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
