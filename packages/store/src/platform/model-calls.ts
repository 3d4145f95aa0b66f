import { TICKET_LIMITS } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/**
 * SQL for the sums of some calls. What was never asked, because of a limit or because its provider rests, is no call.
 * Whole tokens: as bigint they come as numbers.
 */
export const MODEL_SUMS = `count(*) FILTER (WHERE fault IS NULL OR fault NOT IN ('busy', 'over_budget', 'resting')) AS calls, coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(output_tokens), 0)::bigint AS output_tokens, sum(cost_usd) AS cost_usd`;

const sql = statements("platform/model-calls", {
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
export async function insert(db: Db, project: ProjectId, call: ModelCall): Promise<void> {
  const tokens = call.inputTokens + call.outputTokens;

  await sql.insert.run(db, {
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
export const findAllowance = (db: Db, project: ProjectId) => sql.findAllowance.one<ModelAllowance>(db, { project });

/**
 * The newest calls that were made for a ticket, oldest first, and the sums of all of them: those of one project, or
 * of every project for null. The index leads to the rows of the ticket alone.
 */
export async function readTicket(
  db: Db,
  project: ProjectId | null,
  ticketId: string,
): Promise<{ sums: ModelSums; calls: ModelCallRecord[] }> {
  const of = { ticketId, project };
  const [sums, calls] = await Promise.all([
    sql.sumTicket.one<ModelSums>(db, of),
    sql.listOfTicket.all<ModelCallRecord>(db, of),
  ]);
  return { sums: sums ?? NO_CALLS, calls: calls.toReversed() };
}

const NO_CALLS: ModelSums = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };
