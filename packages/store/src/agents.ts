import type { Agent, ReviewPolicy } from "@svc/contracts";
import type { Db } from "./db.ts";
import { newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** What a new agent needs; everything else has a default. */
export type NewAgent = Pick<Agent, "name"> & Partial<Omit<Agent, "id" | "name" | "version">>;

/** What of an agent is to be changed; what is left out stays. */
export type AgentChange = Partial<Pick<Agent, "name" | "description" | "kbIds" | "examples" | "enabled">>;

interface AgentRow {
  id: string;
  name: string;
  description: string;
  instructions: string;
  model: string | null;
  kb_ids: string[];
  examples: string[];
  review_policy: ReviewPolicy;
  auto_threshold: number;
  fixed_reply: string | null;
  tools: unknown[];
  enabled: boolean;
  version: number;
}

const COLUMNS = `id, name, description, instructions, model, kb_ids, examples, review_policy, auto_threshold,
  fixed_reply, tools, enabled, version`;

/** Agents of a project. */
export function agentsTable(db: Db) {
  return {
    /** All agents of a project by name, disabled ones included. */
    async list(project: ProjectId): Promise<Agent[]> {
      const rows = await db.prepared<AgentRow>(
        "agents_list",
        `SELECT ${COLUMNS} FROM agents WHERE project_id = $1 ORDER BY name`,
        [project],
      );
      return rows.map(asAgent);
    },

    /**
     * Changes whenever what `list` answers does; tells it without reading all the examples. Every statement that changes
     * an agent raises its version.
     */
    async findMark(project: ProjectId): Promise<string> {
      const rows = await db.prepared<{ mark: string }>(
        "agents_mark",
        "SELECT coalesce(string_agg(id || ':' || version, ' ' ORDER BY id), '') AS mark FROM agents WHERE project_id = $1",
        [project],
      );
      return rows[0]?.mark ?? "";
    },

    /** An agent of this project, or null. */
    async find(project: ProjectId, id: string): Promise<Agent | null> {
      const rows = await db.query<AgentRow>(`SELECT ${COLUMNS} FROM agents WHERE project_id = $1 AND id = $2`, [
        project,
        id,
      ]);
      const row = rows[0];
      return row === undefined ? null : asAgent(row);
    },

    /** Makes an agent. */
    async insert(project: ProjectId, agent: NewAgent): Promise<Agent> {
      const rows = await db.query<AgentRow>(
        `INSERT INTO agents (id, project_id, name, description, instructions, model, kb_ids, examples, review_policy,
           auto_threshold, fixed_reply, tools, enabled)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING ${COLUMNS}`,
        [
          newId(),
          project,
          agent.name,
          agent.description ?? "",
          agent.instructions ?? "",
          agent.model ?? null,
          agent.kbIds ?? [],
          agent.examples ?? [],
          agent.reviewPolicy ?? "auto_if",
          agent.autoThreshold ?? 0.5,
          agent.fixedReply ?? null,
          JSON.stringify(agent.tools ?? []),
          agent.enabled ?? true,
        ],
      );
      const row = rows[0];
      if (row === undefined) throw new Error("the agent was not inserted");
      return asAgent(row);
    },

    /** Changes fields of an agent and raises its version. Null when this project has no such agent. */
    async update(project: ProjectId, id: string, change: AgentChange): Promise<Agent | null> {
      const rows = await db.query<AgentRow>(
        `UPDATE agents SET version = version + 1, name = coalesce($3, name), description = coalesce($4, description),
           kb_ids = coalesce($5, kb_ids), examples = coalesce($6, examples), enabled = coalesce($7, enabled)
         WHERE project_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
        [project, id, change.name, change.description, change.kbIds, change.examples, change.enabled],
      );
      const row = rows[0];
      return row === undefined ? null : asAgent(row);
    },

    /** Gives an agent a further knowledge base; does nothing when it has it. */
    async addKb(project: ProjectId, id: string, kbId: string): Promise<void> {
      await db.query(
        `UPDATE agents SET kb_ids = kb_ids || $3::uuid, version = version + 1
         WHERE project_id = $1 AND id = $2 AND NOT $3::uuid = ANY (kb_ids)`,
        [project, id, kbId],
      );
    },
  };
}

function asAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    instructions: row.instructions,
    model: row.model,
    kbIds: row.kb_ids,
    examples: row.examples,
    reviewPolicy: row.review_policy,
    autoThreshold: row.auto_threshold,
    fixedReply: row.fixed_reply,
    tools: row.tools,
    enabled: row.enabled,
    version: row.version,
  };
}
