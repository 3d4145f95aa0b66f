import { MASKED_SECRET } from "@svc/contracts";
import type { Agent, AgentTool, Sealed } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db, VersionedId, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** A stored tool, whose header values are sealed. */
export type StoredTool = AgentTool extends infer Tool
  ? Tool extends AgentTool
    ? Omit<Tool, "headers"> & { headers: Record<string, Sealed> }
    : never
  : never;

/** Fields of a new agent; all but the name have defaults. */
export type NewAgent = Pick<Agent, "name"> & { [Field in keyof AgentFields]?: AgentFields[Field] | undefined };

/** Changed fields of an agent; omitted ones are unchanged. */
export type AgentChange = Pick<NewAgent, keyof AgentFields> & { name?: string | undefined };

type AgentFields = Omit<Agent, "id" | "name" | "version" | "tools"> & { tools: StoredTool[] };

/**
 * Result of a change: `taken` if another agent of the project has the name, `no_kb` if the project lacks one of its
 * knowledge bases, `stale` if it has another version. `agent` is its current state, or null.
 */
export interface AgentOutcome {
  result: "changed" | "stale" | "taken" | "no_kb";
  agent: Agent | null;
}

type AgentRow = Omit<Agent, "tools"> & { tools: StoredTool[] };

const COLUMNS = `id, name, description, instructions, model, kb_ids, examples, review_policy, auto_threshold,
  fixed_reply, tools, assignment, enabled, version`;

const sql = statements("knowledge/agents", { columns: COLUMNS });

/** Column of each field. */
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

/** Returns the columns of the given fields, in a fixed order, with their values. */
function columnsOf(change: AgentChange): { column: string; value: unknown }[] {
  return (Object.keys(COLUMN_OF) as (keyof AgentChange)[]).flatMap((field) => {
    const value = change[field];
    if (value === undefined) return [];
    return [{ column: COLUMN_OF[field], value: field === "tools" ? JSON.stringify(value) : value }];
  });
}

/**
 * Returns true if a project has all these knowledge bases. Locks them until the commit, so that no agent refers to a
 * deleted one.
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

/** Runs a change and returns its result; `find` returns the agent if its new name is taken. */
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

/**
 * Returns the tools of an agent with their sealed headers, for runs of the agent and for changes; empty if there is no
 * agent.
 */
export async function readTools(db: Db, project: ProjectId, id: string): Promise<StoredTool[]> {
  const row = await sql.readTools.one<Pick<AgentRow, "tools">>(db, { project, id });
  return row?.tools ?? [];
}

/** Returns all agents of a project by name, including disabled ones. */
export async function list(db: Db, project: ProjectId): Promise<Agent[]> {
  const rows = await sql.list.all<AgentRow>(db, { project });
  return rows.map(asAgent);
}

/**
 * Returns a value that changes whenever the result of `list` does, without reading all the examples. Every statement
 * that changes an agent raises its version.
 */
export async function findMark(db: Db, project: ProjectId): Promise<string> {
  const row = await sql.findMark.one(db, { project });
  return row?.mark ?? "";
}

/**
 * Returns agents of a project, newest first: those created before the one with id `before`, and with `q` in the name.
 */
export async function listPage(db: Db, project: ProjectId, { limit, before, q }: PageQuery): Promise<Agent[]> {
  const rows = await sql.listPage.all<AgentRow>(db, { project, limit, before, q });
  return rows.map(asAgent);
}

/** Creates an agent whose name is free and whose knowledge bases exist, as the caller has checked. */
export async function insert(db: Db, project: ProjectId, agent: NewAgent): Promise<Agent> {
  const made = await create(db, project, agent);
  if (made.result === "changed" && made.agent !== null) return made.agent;
  throw new Error(`the agent ${agent.name} was not created: ${made.result}`);
}

/**
 * Changes fields of an agent and raises its version, if `versions` contains the current one or is null. Returns the
 * result.
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

/** Deletes an agent, if `versions` contains its current version or is null. Returns false if there is none. */
export const remove = (db: Db, project: ProjectId, { id, versions }: VersionedId) =>
  sql.remove.any(db, { project, id, versions });

/** Adds a knowledge base to an agent; has no effect if the agent has it. */
export const addKb = (db: Db, project: ProjectId, id: string, kbId: string) =>
  sql.addKb.exec(db, { project, id, kbId });

/** Returns a tool without its header values, which only runs of its agent need. */
function withoutSecrets(tool: StoredTool): AgentTool {
  return { ...tool, headers: Object.fromEntries(Object.keys(tool.headers).map((name) => [name, MASKED_SECRET])) };
}

const asAgent = (row: AgentRow): Agent => ({ ...row, tools: row.tools.map(withoutSecrets) });
