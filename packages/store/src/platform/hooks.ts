import { HOOK_LIMITS } from "@svc/contracts";
import type { FieldError, HookAuth, HookCondition, HookMapping, HookOutcome, HookPreset, Sealed } from "@svc/contracts";
import { updateVersioned } from "../db.ts";
import type { Db, VersionedId, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** An inbound hook: how its calls are authenticated, and how their bodies are mapped. */
export interface Hook {
  id: string;
  project: ProjectId;
  projectName: string;
  name: string;
  preset: HookPreset | null;
  auth: HookAuth;
  secret: Sealed;
  /** The secret before the last rotation, and until when it is valid. */
  previousSecret: (Sealed & { until: Date }) | null;
  mapping: HookMapping;
  filter: HookCondition[];
  createdAt: Date;
  createdBy: string;
  updatedAt: Date;
  version: number;
}

/** Fields of a new hook. */
export type NewHook = Pick<Hook, "name" | "preset" | "auth" | "secret" | "mapping" | "filter" | "createdBy">;
/** Changed fields of a hook. */
export type HookPatch = Partial<Pick<Hook, "name" | "auth" | "mapping" | "filter">>;

/** Result of a change: `taken` when another hook of the project has the name. */
export interface HookWrite {
  result: "changed" | "stale" | "taken";
  /** The current state of the hook; null if there is none. */
  hook: Hook | null;
}

/** Result of a body of a hook. */
export interface HookBodyResult {
  outcome: HookOutcome;
  faults: readonly FieldError[];
  eventId: string | null;
  messageId: string | null;
  ticketId: string | null;
  chatId: string | null;
  userId: string | null;
}

/** A body of an authenticated call. */
export interface NewHookBody {
  /** Also the id of its message. */
  id: string;
  contentType: string;
  headers: Record<string, string>;
  content: Buffer;
}

/** One of the last bodies of a hook, with its result. */
export interface HookBody extends NewHookBody, HookBodyResult {
  /** Of the whole body, even if only its beginning was read. */
  sizeBytes: number;
  receivedAt: Date;
  tries: number;
  triedAt: Date;
}

/** The message of an event. */
export interface HookEvent {
  messageId: string;
  chatId: string;
  /** True when an earlier call has claimed the event. */
  isRepeat: boolean;
}

type HookRow = Omit<Hook, "secret" | "previousSecret"> & {
  sealedSecret: string;
  previousSealedSecret: string | null;
  previousUntil: Date | null;
};

/** A list shows characters of UTF-16, each of at most three bytes; one more shows that the body is longer. */
const LISTED_BYTES = 3 * (HOOK_LIMITS.shownBodyMaxChars + 1);

const asHook = ({ sealedSecret, previousSealedSecret: previous, previousUntil: until, ...hook }: HookRow): Hook => ({
  ...hook,
  secret: { sealed: sealedSecret },
  previousSecret: previous === null || until === null ? null : { sealed: previous, until },
});

const resultValues = ({ faults: errors, ...result }: HookBodyResult) => ({ ...result, faults: JSON.stringify(errors) });

const sql = statements("platform/hooks", {
  listedBytes: LISTED_BYTES,
  hookLimitsKeptBodies: HOOK_LIMITS.keptBodies,
  hiddenBodies: HOOK_LIMITS.keptBodies - 1,
  hookLimitsKeptDays: HOOK_LIMITS.keptDays,
  hookLimitsEventDays: HOOK_LIMITS.eventDays,
});

/** Returns a hook, or null if the project has none with this id. */
export async function find(db: Db, project: ProjectId, id: string): Promise<Hook | null> {
  const row = await sql.find.one<HookRow>(db, { project, id });
  return row === null ? null : asHook(row);
}

/** Returns the hook with this id, of any project, since calls of hooks have no key. */
export async function findForCall(db: Db, id: string): Promise<Hook | null> {
  const row = await sql.findForCall.one<HookRow>(db, { id });
  return row === null ? null : asHook(row);
}

/**
 * Returns hooks of a project, newest first: those created before the one with id `before`, and with `q` in the name.
 */
export async function listPage(db: Db, project: ProjectId, { limit, before, q }: PageQuery): Promise<Hook[]> {
  const rows = await sql.listPage.all<HookRow>(db, { project, limit, before, q });
  return rows.map(asHook);
}

/** Creates a hook, null if its name is taken. */
export async function insert(db: Db, project: ProjectId, hook: NewHook): Promise<Hook | null> {
  const id = newId();
  const count = await sql.insert.run(db, {
    ...hook,
    project,
    id,
    auth: JSON.stringify(hook.auth),
    sealed: hook.secret.sealed,
    mapping: JSON.stringify(hook.mapping),
    filter: JSON.stringify(hook.filter),
  });
  return count === 0 ? null : find(db, project, id);
}

/** Changes fields of a hook and raises its version, if `versions` contains the current one or is null. */
export async function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  { name, auth, mapping, filter }: HookPatch,
): Promise<HookWrite> {
  const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
  const result = await updateVersioned(() =>
    sql.update.run(db, {
      project,
      id,
      versions,
      name,
      auth: json(auth),
      mapping: json(mapping),
      filter: json(filter),
    }),
  );
  return { result, hook: await find(db, project, id) };
}

/**
 * Sets a new secret of a hook and raises its version; the current one remains valid for `overlapSeconds`. Null if the
 * project has no such hook.
 */
export async function rotate(
  db: Db,
  project: ProjectId,
  id: string,
  { secret, overlapSeconds }: { secret: Sealed; overlapSeconds: number },
): Promise<Hook | null> {
  await sql.rotate.run(db, { project, id, sealed: secret.sealed, overlapSeconds });
  return find(db, project, id);
}

/** Deletes a hook with its bodies and events, if `versions` contains its current version or is null. */
export const remove = (db: Db, project: ProjectId, { id, versions }: VersionedId) =>
  sql.remove.any(db, { project, id, versions });

/** Stores a body with its result, and deletes all but the newest twenty. */
export const addBody = (
  db: Db,
  project: ProjectId,
  hookId: string,
  { result, ...body }: NewHookBody & { result: HookBodyResult },
): Promise<void> =>
  sql.addBody.exec(db, {
    project,
    id: body.id,
    hookId,
    contentType: body.contentType,
    headers: JSON.stringify(body.headers),
    content: body.content,
    ...resultValues(result),
  });

/**
 * Records the result of a body that was retried, if it is still stored; if its message was erased in the meantime, the
 * body is deleted.
 */
export const recordBodyResult = (db: Db, project: ProjectId, bodyId: string, result: HookBodyResult) =>
  sql.recordBodyResult.exec(db, { project, id: bodyId, ...resultValues(result) });

/** Returns the last bodies of a hook, newest first, truncated for display. */
export const listBodies = (db: Db, project: ProjectId, hookId: string) =>
  sql.listBodies.all<HookBody>(db, { project, hookId });

/** Returns one of the last bodies of a hook, or null. */
export const findBody = (db: Db, project: ProjectId, hookId: string, bodyId: string) =>
  sql.findBody.one<HookBody>(db, { project, hookId, bodyId });

/**
 * Claims an event for a message with these ids, or returns its existing message. Null if the hook was deleted. Waits
 * for a concurrent claim of the same event.
 */
export async function claimEvent(
  db: Db,
  project: ProjectId,
  event: { hookId: string; eventId: string; messageId: string; chatId: string },
): Promise<HookEvent | null> {
  const row = await sql.claimEvent.one(db, { project, ...event });
  return row === null ? null : { ...row, isRepeat: row.messageId !== event.messageId };
}

/** Deletes bodies after 30 days and events after 7, at most `limit` of each; returns how many. */
export async function deleteOld(db: Db, limit: number): Promise<number> {
  const bodies = await sql.deleteOld.run(db, { limit });
  const events = await sql.deleteOldEvents.run(db, { limit });
  return bodies + events;
}
