import type { ErrorCode, ModelPullProgress } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";
import { TICKET_LIMITS } from "@svc/contracts";
import type { ProjectId } from "../ids.ts";

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

const pullSql = statements("platform/model-pulls", {
  sweepAfterMs: SWEEP_AFTER_MS,
  modelPullLeaseMs: MODEL_PULL_LEASE_MS,
  keptDays: KEPT_DAYS,
  queued: "queued",
});

function asRecord({ errorCode: code, error, ...row }: PullRow): ModelPullRecord {
  return { ...row, failure: row.state === "failed" && code !== null ? { code, detail: error ?? "" } : null };
}

/** The newest pull of a model, or null. */
async function find(db: Db, catalogId: string): Promise<ModelPullRecord | null> {
  const row = await pullSql.find.one<PullRow>(db, { catalogId });
  return row === null ? null : asRecord(row);
}

/** All pulls in progress. */
async function listRunning(db: Db): Promise<ModelPullRecord[]> {
  const rows = await pullSql.listRunning.all<PullRow>(db);
  return rows.map(asRecord);
}

/**
 * Begins to pull a model, unless it is in progress already: of any number that ask at once exactly one learns that it
 * has begun. When this resolves, the model will be pulled.
 */
async function begin(db: Db, catalogId: string): Promise<{ pull: ModelPullRecord; isNew: boolean }> {
  for (;;) {
    const row = await pullSql.begin.one<PullRow>(db, { catalogId, id: newId() });
    if (row !== null) return { pull: asRecord(row), isNew: true };
    const pull = await find(db, catalogId);
    // One that has ended in between is started again.
    if (pull?.state === "running") return { pull, isNew: false };
  }
}

/** Ends the pull of a model by somebody's wish; null if none is in progress. Its worker notices by its lease. */
async function cancel(db: Db, catalogId: string): Promise<ModelPullRecord | null> {
  const row = await pullSql.cancel.one<PullRow>(db, { catalogId });
  return row === null ? null : asRecord(row);
}

/**
 * Claims the lease on what is to be pulled next; null when nothing waits. A claim counts nothing: an attempt is counted
 * with its failure.
 */
const claim = (db: Db) => pullSql.claim.one<ClaimedModelPull>(db, { leaseId: newId() });

/**
 * Keeps the lease, and notes how far the pull is; the tries are counted again once `hasGrown` is true. False when the
 * lease was lost: the pull was cancelled, or another worker has it.
 */
const keep = (
  db: Db,
  { catalogId, leaseId }: ClaimedModelPull,
  { status, completedBytes, totalBytes }: ModelPullProgress,
  { hasGrown }: { hasGrown: boolean },
) => pullSql.keep.any(db, { catalogId, leaseId, status, completedBytes, totalBytes, hasGrown });

/** Ends a pull. False, and nothing done, when the lease was lost. */
async function finish(db: Db, { catalogId, leaseId }: ClaimedModelPull, end: ModelPullEnd): Promise<boolean> {
  const failure = end.state === "failed" ? end : null;
  return pullSql.finish.any(db, {
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
const retryLater = (
  db: Db,
  { catalogId, leaseId }: ClaimedModelPull,
  { delayMs, failure, counts }: { delayMs: number; failure: string | null; counts: boolean },
) =>
  pullSql.retryLater.exec(db, { catalogId, leaseId, failure, counted: counts ? 1 : 0, delayMs: Math.round(delayMs) });

/** Forgets the pulls that ended long ago. */
const purge = (db: Db) => pullSql.purge.exec(db);

/** Up to `limit` that are due and that nobody has, for the sweeper to publish; each at most every two seconds. */
const takeDue = (db: Db, limit: number) => pullSql.takeDue.all<DueModelPull>(db, { limit });

/**
 * SQL for the sums of some calls. What was never asked, because of a limit or because its provider rests, is no call.
 * Whole tokens: as bigint they come as numbers.
 */
export const MODEL_SUMS = `count(*) FILTER (WHERE fault IS NULL OR fault NOT IN ('busy', 'over_budget', 'resting')) AS calls, coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(output_tokens), 0)::bigint AS output_tokens, sum(cost_usd) AS cost_usd`;

const callSql = statements("platform/model-calls", {
  modelSums: MODEL_SUMS,
  shownMaxCount: TICKET_LIMITS.shownMaxCount,
});

/** A call of a language model that has ended, without any text. */
export interface ModelCall {
  /** Null where no ticket was worked on. */
  ticketId: string | null;
  purpose: string;
  /** Id in the catalogue. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** US dollars; null where no price is configured. */
  costUsd: number | null;
  /** How long it took. */
  ms: number;
  /** Why there was no usable answer; null where there was one. */
  fault: string | null;
}

/** A call, as a ticket shows it. */
export type ModelCallRecord = Omit<ModelCall, "ticketId"> & { at: Date };

/** Tokens and money of several calls; the money is null where no price is configured for any of them. */
export interface ModelSums {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
}

/** What a project may ask of language models, null for any number, and what it has used today (UTC). */
export interface ModelAllowance {
  concurrency: number | null;
  tokensPerDay: number | null;
  tokensToday: number;
}

/** Writes down a call that has ended. Nothing is written for a project that is gone. */
async function insertCall(db: Db, project: ProjectId, call: ModelCall): Promise<void> {
  const tokens = call.inputTokens + call.outputTokens;

  await callSql.insert.run(db, {
    id: newId(),
    project,
    ticketId: call.ticketId,
    purpose: call.purpose,
    model: call.model,
    inputTokens: call.inputTokens,
    outputTokens: call.outputTokens,
    costUsd: call.costUsd,
    ms: Math.round(call.ms),
    tokens,
    fault: call.fault,
  });
}

/** What a project may use, and what it has used today; null when there is no such project. Locks nothing. */
const findAllowance = (db: Db, project: ProjectId) => callSql.findAllowance.one<ModelAllowance>(db, { project });

/**
 * The newest calls that were made for a ticket, oldest first, and the sums of all of them: those of one project, or
 * of every project for null. The index leads to the rows of the ticket alone.
 */
async function readTicket(
  db: Db,
  project: ProjectId | null,
  ticketId: string,
): Promise<{ sums: ModelSums; calls: ModelCallRecord[] }> {
  const of = { ticketId, project };
  const [sums, calls] = await Promise.all([
    callSql.sumTicket.one<ModelSums>(db, of),
    callSql.listOfTicket.all<ModelCallRecord>(db, of),
  ]);
  return { sums: sums ?? NO_CALLS, calls: calls.toReversed() };
}

const NO_CALLS: ModelSums = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };

/** Functions of `store.modelPulls`. */
export const modelPulls = { find, listRunning, begin, cancel, claim, keep, finish, retryLater, purge, takeDue };

/** Functions of `store.modelCalls`. */
export const modelCalls = { insert: insertCall, findAllowance, readTicket };
