import { TICKET_LIMITS } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

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

interface CallRow {
  at: Date;
  purpose: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
  ms: number;
  fault: string | null;
}

interface SumRow {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
}

/** Today's row of `model_days`, whatever the time zone of the connection. */
const TODAY = "(now() AT TIME ZONE 'UTC')::date";

/** Calls of language models: tokens, money, faults. */
export function modelCallsTable(db: Db) {
  return {
    /** Writes down a call that has ended. Nothing is written for a project that is gone. */
    async insert(project: ProjectId, call: ModelCall): Promise<void> {
      const tokens = call.inputTokens + call.outputTokens;
      // The row of the day is locked until the commit: as long as one statement takes, and each call takes far longer. A
      // ticket that was erased while the model answered gets no row.
      await db.query(
        `WITH owner AS (SELECT id FROM projects WHERE id = $2), day AS (
           INSERT INTO model_days (project_id, day, tokens) SELECT id, ${TODAY}, $10::bigint FROM owner WHERE $10::bigint > 0
           ON CONFLICT (project_id, day) DO UPDATE SET tokens = model_days.tokens + excluded.tokens
         )
         INSERT INTO model_calls (id, project_id, ticket_id, purpose, model, input_tokens, output_tokens, cost_usd, ms, fault)
         SELECT $1::uuid, id, $3::uuid, $4::text, $5::text, $6::bigint, $7::bigint, $8::double precision, $9::integer, $11::text
         FROM owner
         WHERE $3::uuid IS NULL OR EXISTS (SELECT FROM chats WHERE ticket_id = $3::uuid AND chat_id <> '')`,
        [
          newId(),
          project,
          call.ticketId,
          call.purpose,
          call.model,
          call.inputTokens,
          call.outputTokens,
          call.costUsd,
          Math.round(call.ms),
          tokens,
          call.fault,
        ],
      );
    },

    /** What a project may use, and what it has used today; null when there is no such project. Locks nothing. */
    async findAllowance(project: ProjectId): Promise<ModelAllowance | null> {
      const [row] = await db.query<{ concurrency: number | null; tokens_per_day: number | null; tokens_today: number }>(
        `SELECT p.model_concurrency AS concurrency, p.model_tokens_per_day AS tokens_per_day,
           coalesce(d.tokens, 0) AS tokens_today
         FROM projects p LEFT JOIN model_days d ON d.project_id = p.id AND d.day = ${TODAY}
         WHERE p.id = $1`,
        [project],
      );
      if (row === undefined) return null;
      const { concurrency, tokens_per_day: tokensPerDay, tokens_today: tokensToday } = row;
      return { concurrency, tokensPerDay, tokensToday };
    },

    /**
     * The newest calls that were made for a ticket, oldest first, and the sums of all of them: those of one project, or
     * of every project for null. The index leads to the rows of the ticket alone.
     */
    async readTicket(
      project: ProjectId | null,
      ticketId: string,
    ): Promise<{ sums: ModelSums; calls: ModelCallRecord[] }> {
      const values = [ticketId, project];
      const ofTicket = "ticket_id = $1 AND ($2::uuid IS NULL OR project_id = $2)";
      const [sums, calls] = await Promise.all([
        db.query<SumRow>(`SELECT ${MODEL_SUMS} FROM model_calls WHERE ${ofTicket}`, values),
        db.query<CallRow>(
          `SELECT at, purpose, model, input_tokens, output_tokens, cost_usd, ms, fault FROM model_calls
           WHERE ${ofTicket} ORDER BY id DESC LIMIT ${TICKET_LIMITS.shownMaxCount}`,
          values,
        ),
      ]);
      const [row] = sums;
      return {
        sums: row === undefined ? NO_CALLS : asModelSums(row),
        calls: calls.toReversed().map(({ input_tokens: inputTokens, output_tokens: outputTokens, ...call }) => ({
          at: call.at,
          purpose: call.purpose,
          model: call.model,
          inputTokens,
          outputTokens,
          costUsd: call.cost_usd,
          ms: call.ms,
          fault: call.fault,
        })),
      };
    },
  };
}

const NO_CALLS: ModelSums = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };

/**
 * SQL for the sums of some calls. What was never asked, because of a limit or because its provider rests, is no call.
 * Whole tokens: as bigint they come as numbers.
 */
export const MODEL_SUMS = `count(*) FILTER (WHERE fault IS NULL OR fault NOT IN ('busy', 'over_budget', 'resting')) AS calls, coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(output_tokens), 0)::bigint AS output_tokens, sum(cost_usd) AS cost_usd`;

/** What `MODEL_SUMS` reads. */
export function asModelSums(row: SumRow): ModelSums {
  return {
    calls: row.calls,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
  };
}
