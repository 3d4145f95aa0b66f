import type { Db } from "./db.ts";
import { asProjectId, newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** A project: everything that belongs together and to nobody else. */
export interface Project {
  id: ProjectId;
  name: string;
  /** What a customer reads when a person has to answer; may be empty. */
  handoffText: string;
  /** Each Markdown table of an answer also comes as an XLSX file. */
  tablesAsXlsx: boolean;
  retentionDays: number | null;
  createdAt: Date;
  version: number;
}

/** What a new project needs; where a setting is absent, the service's default is taken. */
export interface NewProject {
  name: string;
  handoffText?: string | undefined;
  tablesAsXlsx?: boolean | undefined;
  retentionDays?: number | null | undefined;
}

/** The project that a request without a choice works on. */
export const DEFAULT_PROJECT = "default";

const DEFAULT_HANDOFF_TEXT = "Thank you for your message. A member of our team will look at it and reply here.";

interface ProjectRow {
  id: string;
  name: string;
  handoff_text: string;
  tables_as_xlsx: boolean;
  retention_days: number | null;
  created_at: Date;
  version: number;
}

const COLUMNS = "id, name, handoff_text, tables_as_xlsx, retention_days, created_at, version";

/** Projects. */
export function projectsTable(db: Db) {
  async function findOne(where: string, value: string): Promise<Project | null> {
    const rows = await db.query<ProjectRow>(`SELECT ${COLUMNS} FROM projects WHERE ${where} = $1`, [value]);
    const row = rows[0];
    return row === undefined ? null : asProject(row);
  }

  /** Makes a project; null when there is one of this name. */
  async function insert(project: NewProject): Promise<Project | null> {
    const rows = await db.query<ProjectRow>(
      `INSERT INTO projects (id, name, handoff_text, tables_as_xlsx, retention_days) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`,
      [
        newId(),
        project.name,
        project.handoffText ?? DEFAULT_HANDOFF_TEXT,
        project.tablesAsXlsx ?? true,
        project.retentionDays ?? null,
      ],
    );
    const row = rows[0];
    return row === undefined ? null : asProject(row);
  }

  return {
    insert,

    /** The project of this name, or null. */
    findByName: (name: string): Promise<Project | null> => findOne("name", name),

    /** The project with this id, or null. */
    find: (id: ProjectId): Promise<Project | null> => findOne("id", id),

    /** All projects by name. */
    async list(): Promise<Project[]> {
      const rows = await db.query<ProjectRow>(`SELECT ${COLUMNS} FROM projects ORDER BY name`);
      return rows.map(asProject);
    },

    /**
     * Projects, newest first: those made before the project with the id `before`, and with `q` in the name. Ids sort by
     * time, so that a page stays where it is whatever is added.
     */
    async listPage({
      limit,
      before,
      q,
    }: {
      limit: number;
      before?: string | undefined;
      q?: string | undefined;
    }): Promise<Project[]> {
      // strpos takes the text as it is, where LIKE would read signs of it as wildcards.
      const rows = await db.query<ProjectRow>(
        `SELECT ${COLUMNS} FROM projects
         WHERE ($2::uuid IS NULL OR id < $2) AND ($3::text IS NULL OR strpos(lower(name), lower($3)) > 0)
         ORDER BY id DESC LIMIT $1`,
        [limit, before ?? null, q ?? null],
      );
      return rows.map(asProject);
    },

    /** Makes a project, or answers the one that has this name. */
    async ensure(name: string): Promise<{ project: Project; created: boolean }> {
      const made = await insert({ name });
      if (made !== null) return { project: made, created: true };
      const project = await findOne("name", name);
      if (project === null) throw new Error(`project ${name} vanished while it was made`);
      return { project, created: false };
    },

    /** Changes settings of a project. */
    async update(
      id: ProjectId,
      change: Partial<Pick<Project, "handoffText" | "tablesAsXlsx" | "retentionDays">>,
    ): Promise<void> {
      await db.query(
        `UPDATE projects SET handoff_text = coalesce($2, handoff_text), tables_as_xlsx = coalesce($3, tables_as_xlsx),
           retention_days = coalesce($4, retention_days), version = version + 1 WHERE id = $1`,
        [id, change.handoffText ?? null, change.tablesAsXlsx ?? null, change.retentionDays ?? null],
      );
    },
  };
}

function asProject(row: ProjectRow): Project {
  return {
    id: asProjectId(row.id),
    name: row.name,
    handoffText: row.handoff_text,
    tablesAsXlsx: row.tables_as_xlsx,
    retentionDays: row.retention_days,
    createdAt: row.created_at,
    version: row.version,
  };
}
