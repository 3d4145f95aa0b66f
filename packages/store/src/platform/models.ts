import type { ErrorCode, ModelPullProgress } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";
import { TICKET_LIMITS } from "@svc/contracts";
import type { ProjectId } from "../ids.ts";

/** State of a pull: in progress, or its result. */
export type ModelPullState = "running" | "done" | "failed" | "cancelled";

/** The newest pull of a model. */
export interface ModelPullRecord extends ModelPullProgress {
  /** Id of this pull; another pull of the model has another id. */
  id: string;
  catalogId: string;
  state: ModelPullState;
  /** Increases with every change of the pull. */
  version: number;
  /** Error of a failed pull; null while it is in progress and if it has succeeded. */
  failure: { code: ErrorCode; detail: string } | null;
}

/** A pull that a worker has claimed. */
export interface ClaimedModelPull extends ModelPullProgress {
  id: string;
  catalogId: string;
  leaseId: string;
  /** Number of this attempt since the last progress: failed attempts plus one. */
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

/** Result of a pull. */
export type ModelPullEnd = { state: "done" } | { state: "failed"; code: ErrorCode; detail: string };

/** Duration of a worker's lease without renewal. */
export const MODEL_PULL_LEASE_MS = 10_000;

/** Delay after which the sweeper publishes a new pull whose job was lost. */
const SWEEP_AFTER_MS = 2_000;

/** Retention of finished pulls, in days. */
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

/** Returns the newest pull of a model, or null. */
async function find(db: Db, catalogId: string): Promise<ModelPullRecord | null> {
  const row = await pullSql.find.one<PullRow>(db, { catalogId });
  return row === null ? null : asRecord(row);
}

/** Returns all pulls in progress. */
async function listRunning(db: Db): Promise<ModelPullRecord[]> {
  const rows = await pullSql.listRunning.all<PullRow>(db);
  return rows.map(asRecord);
}

/**
 * Starts to pull a model, unless that is in progress: of concurrent calls, exactly one returns `isNew`. When this
 * resolves, the model will be pulled.
 */
async function begin(db: Db, catalogId: string): Promise<{ pull: ModelPullRecord; isNew: boolean }> {
  for (;;) {
    const row = await pullSql.begin.one<PullRow>(db, { catalogId, id: newId() });
    if (row !== null) return { pull: asRecord(row), isNew: true };
    const pull = await find(db, catalogId);
    // A pull that has ended in the meantime is started again.
    if (pull?.state === "running") return { pull, isNew: false };
  }
}

/** Cancels the pull of a model; null if none is in progress. Its worker notices when it renews its lease. */
async function cancel(db: Db, catalogId: string): Promise<ModelPullRecord | null> {
  const row = await pullSql.cancel.one<PullRow>(db, { catalogId });
  return row === null ? null : asRecord(row);
}

/** Claims the next pull; null if none is due. A claim does not count: an attempt is counted with its failure. */
const claim = (db: Db) => pullSql.claim.one<ClaimedModelPull>(db, { leaseId: newId() });

/**
 * Renews the lease, and records the progress of the pull; with `hasGrown`, the attempts are counted from the start
 * again. False if the lease was lost: the pull was cancelled, or another worker has it.
 */
const saveProgress = (
  db: Db,
  { catalogId, leaseId }: ClaimedModelPull,
  { status, completedBytes, totalBytes }: ModelPullProgress,
  { hasGrown }: { hasGrown: boolean },
) => pullSql.saveProgress.any(db, { catalogId, leaseId, status, completedBytes, totalBytes, hasGrown });

/** Finishes a pull. False, without changes, if the lease was lost. */
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

/** Deletes old finished pulls. */
const purge = (db: Db) => pullSql.purge.exec(db);

/**
 * Returns up to `limit` pulls that are due and not claimed, for the sweeper to publish; each at most every two seconds.
 */
const claimDue = (db: Db, limit: number) => pullSql.claimDue.all<DueModelPull>(db, { limit });

/**
 * SQL for the sums of calls. Requests that were not sent, because of a limit or a provider's circuit breaker, do not
 * count. Token counts are bigint and returned as numbers.
 */
export const MODEL_SUMS = `count(*) FILTER (WHERE fault IS NULL OR fault NOT IN ('busy', 'over_budget', 'resting')) AS calls, coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(output_tokens), 0)::bigint AS output_tokens, sum(cost_usd) AS cost_usd`;

const callSql = statements("platform/model-calls", {
  modelSums: MODEL_SUMS,
  shownMaxCount: TICKET_LIMITS.shownMaxCount,
});

/** A finished call of a language model, without any text. */
export interface ModelCall {
  /** Null if the call was not made for a ticket. */
  ticketId: string | null;
  purpose: string;
  /** Id in the model catalog. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** US dollars; null if no price is configured. */
  costUsd: number | null;
  /** Duration. */
  ms: number;
  /** Reason why there was no usable answer; null if there was one. */
  fault: string | null;
}

/** A call, for display on a ticket. */
export type ModelCallRecord = Omit<ModelCall, "ticketId"> & { at: Date };

/** Tokens and cost of several calls; the cost is null if no price is configured for any of them. */
export interface ModelSums {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
}

/** Limits of a project's use of language models, null for none, and its usage today (UTC). */
export interface ModelAllowance {
  concurrency: number | null;
  tokensPerDay: number | null;
  tokensToday: number;
}

/** Records a finished call. Has no effect for a deleted project. */
async function insertCall(db: Db, project: ProjectId, call: ModelCall): Promise<void> {
  const tokens = call.inputTokens + call.outputTokens;

  await callSql.insert.run(db, { ...call, id: newId(), project, ms: Math.round(call.ms), tokens });
}

/** Returns the limits of a project and its usage today; null if there is no such project. Locks nothing. */
const findAllowance = (db: Db, project: ProjectId) => callSql.findAllowance.one<ModelAllowance>(db, { project });

/**
 * Returns the newest calls for a ticket, oldest first, and the sums of all of them: those of one project, or of every
 * project for null. Uses the index on tickets.
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
export const modelPulls = {
  find,
  listRunning,
  begin,
  cancel,
  claim,
  saveProgress,
  finish,
  retryLater,
  purge,
  claimDue,
};

/** Functions of `store.modelCalls`. */
export const modelCalls = { insert: insertCall, findAllowance, readTicket };
