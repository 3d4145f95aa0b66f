import type { ErrorCode, ModelPullProgress } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";

/** Where a pull is: it goes on, or how it has ended. */
export type ModelPullState = "running" | "done" | "failed" | "cancelled";

/** The newest pull of a model. */
export interface ModelPullRecord extends ModelPullProgress {
  /** This pull: another one has another id. */
  id: string;
  catalogId: string;
  state: ModelPullState;
  /** Grows with everything that there is to tell of it. */
  version: number;
  /** Why it has failed; null while it goes on and where it has not. */
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

/** What is said of a pull that nobody has begun to work on. */
const QUEUED = "queued";

interface PullRow {
  id: string;
  catalog_id: string;
  state: ModelPullState;
  status: string;
  completed_bytes: number;
  total_bytes: number | null;
  version: number;
  error_code: ErrorCode | null;
  error: string | null;
}

const COLUMNS = "id, catalog_id, state, status, completed_bytes, total_bytes, version, error_code, error";
const LEASE = `now() + interval '${MODEL_PULL_LEASE_MS} milliseconds'`;

function asRecord(row: PullRow): ModelPullRecord {
  const { error_code: code, error: detail } = row;
  return {
    id: row.id,
    catalogId: row.catalog_id,
    state: row.state,
    status: row.status,
    completedBytes: row.completed_bytes,
    totalBytes: row.total_bytes,
    version: row.version,
    failure: row.state === "failed" && code !== null ? { code, detail: detail ?? "" } : null,
  };
}

/**
 * Pulls of models: begun by whoever asks first, worked on under a lease, followed by anybody. Every statement changes one
 * row, and only that of a pull that goes on.
 */
export function modelPullsTable(db: Db) {
  async function find(catalogId: string): Promise<ModelPullRecord | null> {
    const [row] = await db.query<PullRow>(`SELECT ${COLUMNS} FROM model_pulls WHERE catalog_id = $1`, [catalogId]);
    return row === undefined ? null : asRecord(row);
  }

  return {
    /** The newest pull of a model, or null. */
    find,

    /** All pulls that go on. */
    async listRunning(): Promise<ModelPullRecord[]> {
      const rows = await db.query<PullRow>(
        `SELECT ${COLUMNS} FROM model_pulls WHERE state = 'running' ORDER BY catalog_id`,
      );
      return rows.map(asRecord);
    },

    /**
     * Begins to pull a model, unless that goes on already: of any number that ask at once exactly one is told that it has
     * begun. When this resolves, the model will be pulled.
     */
    async begin(catalogId: string): Promise<{ pull: ModelPullRecord; isNew: boolean }> {
      for (;;) {
        // The row is locked by whoever begins; the others wait for that, and then find a pull that goes on.
        const [row] = await db.query<PullRow>(
          `INSERT INTO model_pulls AS p (catalog_id, id, state, status, due_at)
           VALUES ($1, $2, 'running', '${QUEUED}', now() + interval '${SWEEP_AFTER_MS} milliseconds')
           ON CONFLICT (catalog_id) DO UPDATE SET id = excluded.id, state = 'running', status = excluded.status,
             completed_bytes = 0, total_bytes = NULL, version = 1, error_code = NULL, error = NULL, attempts = 0,
             lease_id = NULL, lease_until = NULL, next_at = now(), due_at = excluded.due_at, started_at = now(),
             updated_at = now()
           WHERE p.state <> 'running'
           RETURNING ${COLUMNS}`,
          [catalogId, newId()],
        );
        if (row !== undefined) return { pull: asRecord(row), isNew: true };
        const pull = await find(catalogId);
        // One that has ended in between is begun anew.
        if (pull?.state === "running") return { pull, isNew: false };
      }
    },

    /** Ends the pull of a model by somebody's wish; null when none goes on. Its worker notices by its lease. */
    async cancel(catalogId: string): Promise<ModelPullRecord | null> {
      const [row] = await db.query<PullRow>(
        `UPDATE model_pulls SET state = 'cancelled', status = 'cancelled', lease_id = NULL, lease_until = NULL,
           version = version + 1, updated_at = now()
         WHERE catalog_id = $1 AND state = 'running' RETURNING ${COLUMNS}`,
        [catalogId],
      );
      return row === undefined ? null : asRecord(row);
    },

    /**
     * Claims the lease on what is to be pulled next; null when nothing waits. A claim counts nothing: an attempt is counted
     * with its failure.
     */
    async claim(): Promise<ClaimedModelPull | null> {
      // The row is locked and taken in one statement; SKIP LOCKED lets two workers take two.
      const [row] = await db.query<PullRow & { lease_id: string; attempts: number; started_at: Date }>(
        `WITH next AS (
           SELECT catalog_id FROM model_pulls
           WHERE state = 'running' AND next_at <= now() AND (lease_until IS NULL OR lease_until < now())
           ORDER BY next_at, catalog_id LIMIT 1 FOR UPDATE SKIP LOCKED
         )
         UPDATE model_pulls p SET lease_id = $1, lease_until = ${LEASE}
         FROM next WHERE p.catalog_id = next.catalog_id
         RETURNING p.id, p.catalog_id, p.status, p.completed_bytes, p.total_bytes, p.lease_id, p.attempts + 1 AS attempts,
           p.started_at`,
        [newId()],
      );
      if (row === undefined) return null;
      return {
        id: row.id,
        catalogId: row.catalog_id,
        leaseId: row.lease_id,
        attempts: row.attempts,
        status: row.status,
        completedBytes: row.completed_bytes,
        totalBytes: row.total_bytes,
        startedAt: row.started_at,
      };
    },

    /**
     * Keeps the lease, and notes how far the pull is; the tries are counted anew once `hasGrown` is true. False when the
     * lease was lost: the pull was cancelled, or another worker has it.
     */
    async keep(
      { catalogId, leaseId }: ClaimedModelPull,
      { status, completedBytes, totalBytes }: ModelPullProgress,
      { hasGrown }: { hasGrown: boolean },
    ): Promise<boolean> {
      const rows = await db.query(
        `UPDATE model_pulls SET lease_until = ${LEASE}, attempts = CASE WHEN $6 THEN 0 ELSE attempts END,
           version = version
             + CASE WHEN (status, completed_bytes, total_bytes) IS DISTINCT FROM ($3, $4, $5) THEN 1 ELSE 0 END,
           status = $3, completed_bytes = $4, total_bytes = $5, updated_at = now()
         WHERE catalog_id = $1 AND lease_id = $2 AND state = 'running' RETURNING 1`,
        [catalogId, leaseId, status, completedBytes, totalBytes, hasGrown],
      );
      return rows.length > 0;
    },

    /** Ends a pull. False, and nothing done, when the lease was lost. */
    async finish({ catalogId, leaseId }: ClaimedModelPull, end: ModelPullEnd): Promise<boolean> {
      const failure = end.state === "failed" ? end : null;
      const rows = await db.query(
        `UPDATE model_pulls SET state = $3, status = CASE WHEN $3 = 'done' THEN 'success' ELSE 'failed' END,
           completed_bytes = CASE WHEN $3 = 'done' THEN coalesce(total_bytes, completed_bytes) ELSE completed_bytes END,
           error_code = $4, error = $5, lease_id = NULL, lease_until = NULL, version = version + 1, updated_at = now()
         WHERE catalog_id = $1 AND lease_id = $2 AND state = 'running' RETURNING 1`,
        [catalogId, leaseId, end.state, failure?.code ?? null, failure?.detail ?? null],
      );
      return rows.length > 0;
    },

    /**
     * Releases the lease: the next attempt follows after `delayMs`, and this one is counted as failed only if `counts`. Does
     * nothing if the lease was lost.
     */
    async retryLater(
      { catalogId, leaseId }: ClaimedModelPull,
      { delayMs, failure, counts }: { delayMs: number; failure: string | null; counts: boolean },
    ): Promise<void> {
      await db.query(
        `UPDATE model_pulls SET lease_id = NULL, lease_until = NULL, error = coalesce($3, error),
           attempts = attempts + $4, next_at = now() + $5 * interval '1 millisecond',
           due_at = now() + $5 * interval '1 millisecond', updated_at = now()
         WHERE catalog_id = $1 AND lease_id = $2 AND state = 'running'`,
        [catalogId, leaseId, failure, counts ? 1 : 0, Math.round(delayMs)],
      );
    },

    /** Forgets the pulls that ended long ago. */
    async purge(): Promise<void> {
      await db.query(
        `DELETE FROM model_pulls WHERE state <> 'running' AND updated_at < now() - interval '${KEPT_DAYS} days'`,
      );
    },

    /** Up to `limit` that are due and that nobody has, for the sweeper to publish; each at most every two seconds. */
    async takeDue(limit: number): Promise<DueModelPull[]> {
      const rows = await db.query<{ id: string; catalog_id: string; attempts: number }>(
        `WITH due AS (
           SELECT catalog_id FROM model_pulls
           WHERE state = 'running' AND due_at <= now() AND next_at <= now()
             AND (lease_until IS NULL OR lease_until < now())
           ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
         )
         UPDATE model_pulls p SET due_at = now() + interval '2 seconds'
         FROM due WHERE p.catalog_id = due.catalog_id RETURNING p.id, p.catalog_id,
           p.attempts + CASE WHEN p.lease_id IS NULL THEN 0 ELSE 1 END AS attempts`,
        [limit],
      );
      return rows.map((row) => ({ catalogId: row.catalog_id, pullId: row.id, attempts: row.attempts }));
    },
  };
}
