import type { ErrorCode, ModelPullProgress } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";

/** State of a pull: in progress, or how it has ended. */
export type ModelPullState = "running" | "done" | "failed" | "cancelled";

/** The newest pull of a model. */
export interface ModelPullRecord extends ModelPullProgress {
  /** This pull: another one has another id. */
  id: string;
  catalogId: string;
  state: ModelPullState;
  /** Grows with everything that there is to tell of it. */
  version: number;
  /** Why it has failed; null while it is in progress and if it has succeeded. */
  failure: { code: ErrorCode; detail: string } | null;
}

/** A pull that a worker has the lease of. */
export interface ClaimedModelPull extends ModelPullProgress {
  id: string;
  catalogId: string;
  leaseId: string;
  /** Number of this attempt since anything has come: one more than have failed. */
  attempts: number;
  startedAt: Date;
}

/** A pull that has to be announced. */
export interface DueModelPull {
  catalogId: string;
  pullId: string;
  /** Number of failed attempts, and one more after an expired lease: it distinguishes this job from earlier ones. */
  attempts: number;
}

/** How a pull ends. */
export type ModelPullEnd = { state: "done" } | { state: "failed"; code: ErrorCode; detail: string };

/** How long a worker's lease lasts without being renewed. */
export const MODEL_PULL_LEASE_MS = 10_000;

/** How long the sweeper leaves what is new to its job. */
const SWEEP_AFTER_MS = 2_000;

/** How long a pull is kept after its end. */
const KEPT_DAYS = 30;

type PullRow = Omit<ModelPullRecord, "failure"> & { errorCode: ErrorCode | null; error: string | null };

const sql = statements("platform/model-pulls", {
  sweepAfterMs: SWEEP_AFTER_MS,
  modelPullLeaseMs: MODEL_PULL_LEASE_MS,
  keptDays: KEPT_DAYS,
  queued: "queued",
});

function asRecord({ errorCode: code, error, ...row }: PullRow): ModelPullRecord {
  return { ...row, failure: row.state === "failed" && code !== null ? { code, detail: error ?? "" } : null };
}

/** The newest pull of a model, or null. */
export async function find(db: Db, catalogId: string): Promise<ModelPullRecord | null> {
  const row = await sql.find.one<PullRow>(db, { catalogId });
  return row === null ? null : asRecord(row);
}

/** All pulls in progress. */
export async function listRunning(db: Db): Promise<ModelPullRecord[]> {
  const rows = await sql.listRunning.all<PullRow>(db);
  return rows.map(asRecord);
}

/**
 * Begins to pull a model, unless it is in progress already: of any number that ask at once exactly one learns that it
 * has begun. When this resolves, the model will be pulled.
 */
export async function begin(db: Db, catalogId: string): Promise<{ pull: ModelPullRecord; isNew: boolean }> {
  for (;;) {
    const row = await sql.begin.one<PullRow>(db, { catalogId, id: newId() });
    if (row !== null) return { pull: asRecord(row), isNew: true };
    const pull = await find(db, catalogId);
    // One that has ended in between is started again.
    if (pull?.state === "running") return { pull, isNew: false };
  }
}

/** Ends the pull of a model by somebody's wish; null if none is in progress. Its worker notices by its lease. */
export async function cancel(db: Db, catalogId: string): Promise<ModelPullRecord | null> {
  const row = await sql.cancel.one<PullRow>(db, { catalogId });
  return row === null ? null : asRecord(row);
}

/**
 * Claims the lease on what is to be pulled next; null when nothing waits. A claim counts nothing: an attempt is counted
 * with its failure.
 */
export const claim = (db: Db) => sql.claim.one<ClaimedModelPull>(db, { leaseId: newId() });

/**
 * Keeps the lease, and notes how far the pull is; the tries are counted again once `hasGrown` is true. False when the
 * lease was lost: the pull was cancelled, or another worker has it.
 */
export const keep = (
  db: Db,
  { catalogId, leaseId }: ClaimedModelPull,
  { status, completedBytes, totalBytes }: ModelPullProgress,
  { hasGrown }: { hasGrown: boolean },
) => sql.keep.any(db, { catalogId, leaseId, status, completedBytes, totalBytes, hasGrown });

/** Ends a pull. False, and nothing done, when the lease was lost. */
export async function finish(db: Db, { catalogId, leaseId }: ClaimedModelPull, end: ModelPullEnd): Promise<boolean> {
  const failure = end.state === "failed" ? end : null;
  return sql.finish.any(db, {
    catalogId,
    leaseId,
    state: end.state,
    errorCode: failure?.code,
    error: failure?.detail,
  });
}

/**
 * Releases the lease: the next attempt follows after `delayMs`, and this one is counted as failed only if `counts`.
 * Does nothing if the lease was lost.
 */
export const retryLater = (
  db: Db,
  { catalogId, leaseId }: ClaimedModelPull,
  { delayMs, failure, counts }: { delayMs: number; failure: string | null; counts: boolean },
) => sql.retryLater.exec(db, { catalogId, leaseId, failure, counted: counts ? 1 : 0, delayMs: Math.round(delayMs) });

/** Forgets the pulls that ended long ago. */
export const purge = (db: Db) => sql.purge.exec(db);

/** Up to `limit` that are due and that nobody has, for the sweeper to publish; each at most every two seconds. */
export const takeDue = (db: Db, limit: number) => sql.takeDue.all<DueModelPull>(db, { limit });
