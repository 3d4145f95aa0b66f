import { MASKED_SECRET } from "@svc/contracts";
import type { Agent, AgentTool, Sealed } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db, VersionedId, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** A tool as it is kept: each value of its headers is sealed. */
export type StoredTool = AgentTool extends infer Tool
  ? Tool extends AgentTool
    ? Omit<Tool, "headers"> & { headers: Record<string, Sealed> }
    : never
  : never;

/** What a new agent needs; everything else has a default. */
export type NewAgent = Pick<Agent, "name"> & { [Field in keyof AgentFields]?: AgentFields[Field] | undefined };

/** What of an agent is to be changed; what is left out stays. */
export type AgentChange = Pick<NewAgent, keyof AgentFields> & { name?: string | undefined };

type AgentFields = Omit<Agent, "id" | "name" | "version" | "tools"> & { tools: StoredTool[] };

/**
 * Result of a change: `taken` when another agent of the project has the name, `no_kb` when the project has not all of
 * its knowledge bases, `stale` when it has another version. `agent` is as it is now, null where there is none.
 */
export interface AgentOutcome {
  result: "changed" | "stale" | "taken" | "no_kb";
  agent: Agent | null;
}

type AgentRow = Omit<Agent, "tools"> & { tools: StoredTool[] };

const COLUMNS = `id, name, description, instructions, model, kb_ids, examples, review_policy, auto_threshold,
  fixed_reply, tools, assignment, enabled, version`;

const sql = statements("knowledge/agents", { columns: COLUMNS });

/** Where each field lies. */
const COLUMN_OF = {
  name: "name",
  description: "description",
  instructions: "instructions",
  model: "model",
  kbIds: "kb_ids",
  examples: "examples",
  reviewPolicy: "review_policy",
  autoThreshold: "auto_threshold",
  fixedReply: "fixed_reply",
  tools: "tools",
  assignment: "assignment",
  enabled: "enabled",
} as const satisfies Record<keyof AgentChange, string>;

/** The columns of the fields that are given, in one order, with what goes into each. */
function columnsOf(change: AgentChange): { column: string; value: unknown }[] {
  return (Object.keys(COLUMN_OF) as (keyof AgentChange)[]).flatMap((field) => {
    const value = change[field];
    if (value === undefined) return [];
    return [{ column: COLUMN_OF[field], value: field === "tools" ? JSON.stringify(value) : value }];
  });
}

/**
 * Whether a project has all these knowledge bases; none of them is deleted until the commit, so that no agent keeps one
 * that is gone.
 */
async function holdKbs(tx: Db, project: ProjectId, kbIds: readonly string[] | undefined): Promise<boolean> {
  if (kbIds === undefined || kbIds.length === 0) return true;
  const count = await sql.holdKbs.run(tx, { project, kbIds });
  return count === new Set(kbIds).size;
}

/** Returns an agent, or null if the project has none with this id. */
export async function find(db: Db, project: ProjectId, id: string): Promise<Agent | null> {
  const row = await sql.find.one<AgentRow>(db, { project, id });
  return row === null ? null : asAgent(row);
}

/** Does what a change is made of; `find` tells how the agent is when its new name is taken. */
async function outcomeOf(
  change: () => Promise<AgentOutcome>,
  findPresent: () => Promise<Agent | null>,
): Promise<AgentOutcome> {
  try {
    return await change();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { result: "taken", agent: await findPresent() };
  }
}

/** Creates an agent, unless its name is taken or the project has not all of its knowledge bases. */
export function create(db: Db, project: ProjectId, agent: NewAgent): Promise<AgentOutcome> {
  const given = columnsOf(agent);
  const columns = ["id", "project_id", ...given.map(({ column }) => column)];
  const values = [newId(), project, ...given.map(({ value }) => value)];
  const insert = () =>
    db.transaction(async (tx): Promise<AgentOutcome> => {
      if (!(await holdKbs(tx, project, agent.kbIds))) return { result: "no_kb", agent: null };
      const [row] = await tx.query<AgentRow>(
        `INSERT INTO agents (${columns.join(", ")}) VALUES (${values.map((_, index) => `$${index + 1}`).join(", ")})
         RETURNING ${COLUMNS}`,
        values,
      );
      return { result: "changed", agent: row === undefined ? null : asAgent(row) };
    });
  return outcomeOf(insert, () => Promise.resolve(null));
}

/** The tools of an agent with their sealed headers, for runs of the agent and for changes; empty when there is none. */
export async function readTools(db: Db, project: ProjectId, id: string): Promise<StoredTool[]> {
  const row = await sql.readTools.one<Pick<AgentRow, "tools">>(db, { project, id });
  return row?.tools ?? [];
}

/** All agents of a project by name, disabled ones included. */
export async function list(db: Db, project: ProjectId): Promise<Agent[]> {
  const rows = await sql.list.all<AgentRow>(db, { project });
  return rows.map(asAgent);
}

/**
 * Changes whenever what `list` answers does, and tells it without reading all the examples. Every statement that
 * changes an agent raises its version.
 */
export async function findMark(db: Db, project: ProjectId): Promise<string> {
  const row = await sql.findMark.one<{ mark: string }>(db, { project });
  return row?.mark ?? "";
}

/**
 * Agents of a project, newest first: those made before the one with the id `before`, and with `q` in the name.
 */
export async function listPage(db: Db, project: ProjectId, { limit, before, q }: PageQuery): Promise<Agent[]> {
  const rows = await sql.listPage.all<AgentRow>(db, { project, limit, before, q });
  return rows.map(asAgent);
}

/** Creates an agent of which the caller knows that its name is free and its knowledge bases are there. */
export async function insert(db: Db, project: ProjectId, agent: NewAgent): Promise<Agent> {
  const made = await create(db, project, agent);
  if (made.result === "changed" && made.agent !== null) return made.agent;
  throw new Error(`the agent ${agent.name} was not created: ${made.result}`);
}

/**
 * Changes fields of an agent and raises its version, where `versions` has the present one or is null. Returns
 * the result.
 */
export function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  change: AgentChange,
): Promise<AgentOutcome> {
  const given = columnsOf(change);
  const sets = ["version = version + 1", ...given.map(({ column }, index) => `${column} = $${index + 4}`)];
  const write = () =>
    db.transaction(async (tx): Promise<AgentOutcome> => {
      if (!(await holdKbs(tx, project, change.kbIds))) return { result: "no_kb", agent: null };
      const [row] = await tx.query<AgentRow>(
        `UPDATE agents SET ${sets.join(", ")}
         WHERE project_id = $1 AND id = $2 AND ($3::integer[] IS NULL OR version = ANY ($3)) RETURNING ${COLUMNS}`,
        [project, id, versions, ...given.map(({ value }) => value)],
      );
      return { result: row === undefined ? "stale" : "changed", agent: row === undefined ? null : asAgent(row) };
    });
  return outcomeOf(
    async () => {
      const outcome = await write();
      return outcome.result === "changed" ? outcome : { ...outcome, agent: await find(db, project, id) };
    },
    () => find(db, project, id),
  );
}

/** Deletes an agent, where `versions` has its present version or is null. False when there is none of these. */
export const remove = (db: Db, project: ProjectId, { id, versions }: VersionedId) =>
  sql.remove.any(db, { project, id, versions });

/** Gives an agent a further knowledge base; does nothing when it has it. */
export const addKb = (db: Db, project: ProjectId, id: string, kbId: string) =>
  sql.addKb.exec(db, { project, id, kbId });

/** A tool as it may be seen: nothing but its agent's runs needs the values of its headers. */
function withoutSecrets(tool: StoredTool): AgentTool {
  return { ...tool, headers: Object.fromEntries(Object.keys(tool.headers).map((name) => [name, MASKED_SECRET])) };
}

const asAgent = (row: AgentRow): Agent => ({ ...row, tools: row.tools.map(withoutSecrets) });
