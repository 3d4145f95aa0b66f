import { createHash } from "node:crypto";
import { v7 } from "uuid";
import { isUuid } from "@svc/primitives";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** An audited action with its actor and result. Contains no secrets and no texts of customers. */
export interface NewAuditEvent {
  /** Kind and id of the actor; `anonymous` without a valid key. */
  actor: string;
  /** Resource and verb, as in `agents.create`. */
  action: string;
  object: string | null;
  project: { id: ProjectId; name: string } | null;
  /** `ok`, or the code of the error. */
  result: string;
  /** Stored as it is if it is a UUID; otherwise only its hash. */
  requestId: string | null;
  /** Number of occurrences, if one row stands for many; 1 if absent. */
  count?: number;
  /** Network of the client, never the address. */
  network?: string | null;
}

/** A row of the audit log. */
export interface AuditEvent {
  id: string;
  at: Date;
  actor: string;
  action: string;
  object: string | null;
  /** Name that the project had at that time. */
  project: string | null;
  result: string;
  requestId: string | null;
  count: number;
  network: string | null;
}

/** Filter of rows; omitted or undefined fields match all. */
export interface AuditFilter {
  /** Rows of one project, by its id or by a name that it had. */
  project?: { id: ProjectId } | { name: string } | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  object?: string | undefined;
  result?: string | undefined;
  /** From this time on. */
  from?: Date | undefined;
  /** Before this time. */
  to?: Date | undefined;
}

/** A position in the chain: the day (`YYYY-MM-DD`, UTC), the number of the row in it, and its hash. */
export interface AuditPosition {
  day: string;
  number: number;
  /** Hexadecimal. */
  hash: string;
}

/** Kinds of damage to the chain. */
export type AuditProblemKind =
  /** The row's hash does not match its values and the previous row. */
  | "changed"
  /** The row with this number is missing, although the day has later ones. */
  | "missing"
  /** The first row of a day does not match the last one before: rows between them were deleted, or it was changed. */
  | "unlinked"
  /** Rows at the end of the chain are missing. */
  | "truncated"
  /** There are rows after the end of the chain. */
  | "added"
  /** The row that was reported earlier was changed or deleted. */
  | "unexpected";

/** The first damage to the chain. */
export interface AuditProblem {
  kind: AuditProblemKind;
  day: string;
  number: number;
  /** Id of the affected row; null if the row is missing. */
  id: string | null;
}

/** Part of the chain to check. Days are `YYYY-MM-DD` in UTC. */
export interface AuditRange {
  /** First day; from the first row if absent. */
  from?: string | undefined;
  /** Last day; to the end if absent. */
  to?: string | undefined;
  /** In place of `from`: the check continues after this row, which must exist unchanged. */
  after?: AuditPosition | undefined;
  /** Maximum of rows to check; all if absent. */
  maxRows?: number | undefined;
  /** A position that was reported earlier: its row must exist unchanged. */
  expect?: AuditPosition | undefined;
}

/** Result of a check of the chain. */
export interface AuditCheck {
  /** The first damage; null if the chain is intact. */
  fault: AuditProblem | null;
  /** Number of valid rows. */
  rows: number;
  /** True if the check ended at `maxRows`, and there are more. */
  isPartial: boolean;
  /** The last of them; null if there was none. */
  head: AuditPosition | null;
}

interface HeadRow {
  day: string;
  number: number;
  at: Date;
  hash: Buffer;
}

interface ChainRow extends AuditEvent {
  day: string;
  number: number;
  projectId: string | null;
  hash: Buffer;
}

/** The position before the first row. */
const GENESIS = { day: "1970-01-01", number: 0, hash: Buffer.alloc(0) };
/** Rows per read of a check. */
const CHECK_PAGE = 1_000;

/** The input of a row's hash, in this order. */
type HashedValues = readonly (string | number | null)[];

const sql = statements("people/audit");

/** Returns the hash of a row: over the previous hash, and all its own values as JSON. */
const hashOf = (previous: Buffer, values: HashedValues): Buffer =>
  createHash("sha256").update(previous).update(JSON.stringify(values)).digest();

function valuesOf(row: Omit<ChainRow, "hash">): HashedValues {
  const { id, day, number, at, actor, action, object, projectId, project, result, requestId, count, network } = row;
  const values = [id, day, number, at.toISOString(), actor, action, object, projectId, project, result, requestId];
  return [...values, count, network];
}

/**
 * Returns an id that is not after any row of this time or later: ids begin with the time in milliseconds (RFC 9562).
 */
function firstIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const asPosition = ({ day, number, hash }: Pick<HeadRow, "day" | "number" | "hash">): AuditPosition => ({
  day,
  number,
  hash: hash.toString("hex"),
});

/** Returns true if one position is before another one. */
const isBefore = (one: { day: string; number: number }, other: { day: string; number: number }) =>
  one.day < other.day || (one.day === other.day && one.number < other.number);

/** Returns what is wrong with a row after the one before it; null if nothing is. */
function errorOf(last: Pick<HeadRow, "day" | "number" | "hash">, row: ChainRow): AuditProblem | null {
  const { day, id } = row;
  const isSameDay = day === last.day;
  const number = isSameDay ? last.number + 1 : 1;
  if (row.number !== number) return { kind: "missing", day, number, id: null };
  if (hashOf(last.hash, valuesOf(row)).equals(row.hash)) return null;
  return { kind: isSameDay || last.number === 0 ? "changed" : "unlinked", day, number, id };
}

const REQUEST_HASH_CHARS = 16;

/**
 * Returns the stored form of a request id: a UUID as it is; otherwise a hash, by which it can be found, since a caller
 * may send a key or a name.
 */
function requestIdOf(text: string | null): string | null {
  if (text === null || isUuid(text)) return text;
  return createHash("sha256").update(text).digest("hex").slice(0, REQUEST_HASH_CHARS);
}

/** Appends these events to the chain, all with one time. */
function chain(head: HeadRow, now: Date, events: readonly NewAuditEvent[]): ChainRow[] {
  // If the clock was set back, rows must not be sorted before existing ones.
  const at = now > head.at ? now : head.at;
  const day = at.toISOString().slice(0, 10);
  let { hash: previous } = head;
  let number = day === head.day ? head.number : 0;
  return events.map(({ actor, action, object, project, result, requestId, count = 1, network = null }) => {
    number++;
    const row = {
      // With the number as sequence, ids sort as the chain does, whichever process creates them.
      id: v7({ msecs: at.getTime(), seq: number }),
      day,
      number,
      at,
      actor,
      action,
      object,
      result,
      count,
      network,
      projectId: project?.id ?? null,
      project: project?.name ?? null,
      requestId: requestIdOf(requestId),
    };
    previous = hashOf(previous, valuesOf(row));
    return { ...row, hash: previous };
  });
}

async function appendAll(db: Db, events: NewAuditEvent[]): Promise<void[]> {
  await db.transaction(async (tx) => {
    await sql.appendAll.run(tx);

    const head = await sql.lockHead.one<HeadRow & { now: Date }>(tx);
    if (head === null) throw new Error("the head of the audit log is missing; restore audit_head from a backup");
    const rows = chain(head, head.now, events);
    const last = rows.at(-1);
    if (last === undefined) return;
    const column = <Name extends keyof ChainRow>(name: Name) => rows.map((row) => row[name]);
    await sql.insertEvents.run(tx, {
      id: column("id"),
      day: column("day"),
      number: column("number"),
      at: rows.map(({ at }) => at.toISOString()),
      actor: column("actor"),
      action: column("action"),
      object: column("object"),
      projectId: column("projectId"),
      project: column("project"),
      result: column("result"),
      requestId: column("requestId"),
      count: column("count"),
      network: column("network"),
      hash: column("hash"),
    });
    await sql.moveHead.run(tx, { ...last, at: last.at.toISOString() });
  });
  return events.map(() => undefined);
}

async function readHead(db: Db): Promise<HeadRow> {
  const head = await sql.readHead.one<HeadRow>(db);
  return head ?? { ...GENESIS, at: new Date(0) };
}

/** Returns the next rows of the chain after a position. */
const readAfter = (db: Db, { day, number }: { day: string; number: number }): Promise<ChainRow[]> =>
  sql.readAfter.all<ChainRow>(db, { day, number, checkPage: CHECK_PAGE });

/** Returns the hash of the row at a position, in hexadecimal; null if there is none. */
async function findHash(db: Db, { day, number }: AuditPosition): Promise<string | null> {
  const row = await sql.findHash.one(db, { day, number });
  return row?.hash.toString("hex") ?? null;
}

/** Returns the last position before a day; if there is none, that before the first row. */
async function findBefore(db: Db, day: string | undefined): Promise<Pick<HeadRow, "day" | "number" | "hash">> {
  if (day === undefined) return GENESIS;
  const row = await sql.findBefore.one<Pick<HeadRow, "day" | "number" | "hash">>(db, { day });
  return row ?? GENESIS;
}

/**
 * Appends an event to the chain. Concurrent calls share a transaction; processes wait for each other's transactions.
 */
export const append = batched<Db, NewAuditEvent, void>(appendAll, { lanes: 1 });

/** Returns rows, newest first: those before the row with id `before` that match the filter. */
export async function listPage(
  db: Db,
  filter: AuditFilter,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<AuditEvent[]> {
  const { project, actor, action, object, result, from, to } = filter;

  return sql.listPage.all<AuditEvent>(db, {
    limit,
    id: before,
    id2: from === undefined ? null : firstIdAt(from),
    id3: to === undefined ? null : firstIdAt(to),
    projectId: project !== undefined && "id" in project ? project.id : null,
    project: project !== undefined && "name" in project ? project.name : null,
    actor,
    action,
    object,
    result,
  });
}

/**
 * Returns the current names of operators and keys that acted, and of objects, by their ids. With a project, only
 * objects that belong to it: a denied row can name one of another project.
 */
export async function findNames(
  db: Db,
  { actorIds, objectIds }: { actorIds: readonly string[]; objectIds: readonly string[] },
  project: ProjectId | null,
): Promise<Map<string, string>> {
  const rows = await sql.findNames.all(db, { actorIds, objectIds, project });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Checks the chain row by row, in constant memory: from the first row of the day `from`, which must match the row
 * before it, to the last row of the day `to`, which the next row must match. Rows may be added in the meantime. Ends at
 * the first damage, and after `maxRows`.
 */
export async function check(
  db: Db,
  { from, to, after, expect, maxRows = Infinity }: AuditRange = {},
): Promise<AuditCheck> {
  let last = after === undefined ? await findBefore(db, from) : { ...after, hash: Buffer.from(after.hash, "hex") };
  let rows = 0;
  const outcome = (error: AuditProblem | null): AuditCheck => ({
    fault: error,
    rows,
    isPartial: false,
    head: rows === 0 ? null : asPosition(last),
  });
  for (const position of [after, expect]) {
    if (position !== undefined && (await findHash(db, position)) !== position.hash) {
      return outcome({ kind: "unexpected", day: position.day, number: position.number, id: null });
    }
  }
  for (;;) {
    // Rows and head are committed together, so the rows that are read after the head include it.
    const head = await readHead(db);
    const page = await readAfter(db, last);
    for (const row of page) {
      const error = errorOf(last, row);
      if (error !== null || (to !== undefined && row.day > to)) return outcome(error);
      // One extra row shows whether there are more.
      if (rows === maxRows) return { ...outcome(null), isPartial: true };
      last = row;
      rows++;
    }
    if (page.length > 0) continue;
    const next = { day: last.day, number: last.number + 1, id: null };
    if (isBefore(last, head)) return outcome({ kind: "truncated", ...next });
    if (isBefore(head, last)) return outcome({ kind: "added", ...next, number: last.number });
    return outcome(head.hash.equals(last.hash) ? null : { kind: "changed", ...next, number: last.number });
  }
}
