import { webhookSecretsSchema } from "@svc/contracts";
import type { WebhookSecrets } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { outlastDeadlocks } from "../outlast-deadlocks.ts";

/** What a project may ask of language models; null: any number. */
export interface ModelLimits {
  /** Calls at once, in each process. */
  concurrency: number | null;
  /** Of questions and answers, by UTC. */
  tokensPerDay: number | null;
}

/** A project: everything that belongs together and to nobody else. */
export interface Project extends WebhookSecrets {
  id: ProjectId;
  name: string;
  /** What a customer reads when a person has to answer; may be empty. */
  handoffText: string;
  /** The same by language (ISO 639-1), where the project has one of its own. */
  handoffTexts: Readonly<Record<string, string>>;
  /** What a customer of the messenger reads who starts the bot; empty: the service's own text. */
  greeting: string;
  /** Each Markdown table of an answer also comes as an XLSX file. */
  tablesAsXlsx: boolean;
  retentionDays: number | null;
  /** Days that files of visitors are kept; null: as long as their conversation. */
  fileRetentionDays: number | null;
  modelLimits: ModelLimits;
  createdAt: Date;
  version: number;
}

/** What a new project needs; where a setting is absent, the service's default is taken. */
export interface NewProject {
  name: string;
  handoffText?: string | undefined;
  handoffTexts?: Readonly<Record<string, string>> | undefined;
  greeting?: string | undefined;
  tablesAsXlsx?: boolean | undefined;
  retentionDays?: number | null | undefined;
  fileRetentionDays?: number | null | undefined;
  modelLimits?: { concurrency?: number | null | undefined; tokensPerDay?: number | null | undefined } | undefined;
}

/** What can be changed of a project; what is left out stays as it is. */
export type ProjectUpdate = Partial<Omit<NewProject, "name">> & Partial<WebhookSecrets> & { name?: string | undefined };

/** What became of a change: `stale` when the project has another version or is gone, `taken` when its new name is. */
export interface ProjectOutcome {
  result: "changed" | "stale" | "taken";
  /** As it is now; null when there is no such project. */
  project: Project | null;
}

/** The project that a request without a choice works on. */
export const DEFAULT_PROJECT = "default";

/** What became of a deletion: `stale` when the project has another version or is gone, `in_use` when it is the widget's. */
export type ProjectRemoval = "removed" | "stale" | "in_use";

/** Enough for a busy chat, and few enough that one project does not take all that a provider allows. */
const DEFAULT_CONCURRENCY = 8;

/** Long enough to work on a case; as files of strangers fill the disk, they are not kept for ever. */
const DEFAULT_FILE_RETENTION_DAYS = 90;

const DEFAULT_HANDOFF_TEXT = "Thank you for your message. A member of our team will look at it and reply here.";

interface ProjectRow {
  id: string;
  name: string;
  handoff_text: string;
  handoff_texts: Record<string, string>;
  greeting: string;
  tables_as_xlsx: boolean;
  retention_days: number | null;
  file_retention_days: number | null;
  model_concurrency: number | null;
  model_tokens_per_day: number | null;
  webhook_secret: unknown;
  previous_webhook_secret: unknown;
  created_at: Date;
  version: number;
}

/** SQL for a secret of a project: those of the default one are settings of the installation. */
const secretColumn = (column: string, setting: string) =>
  `CASE WHEN name = '${DEFAULT_PROJECT}' THEN (SELECT c.api #> '{config,${setting}}' FROM channels_config c) ELSE ${column} END AS ${column}`;

const SECRETS = `${secretColumn("webhook_secret", "webhookSecret")}, ${secretColumn("previous_webhook_secret", "previousWebhookSecret")}`;

const COLUMNS = `${SECRETS}, id, name, handoff_text, handoff_texts, greeting, tables_as_xlsx, retention_days, file_retention_days, model_concurrency, model_tokens_per_day, created_at, version`;

/** What a deleted project is called until it is gone: no name that can be asked for has a space. */
const DELETED_PREFIX = "deleted ";

/** SQL for the project that the widget names. */
const WIDGET_PROJECT = `coalesce(widget #>> '{config,project}', '${DEFAULT_PROJECT}')`;

/** The widget names its project; one that gets another name takes the widget along. */
const RENAME_IN_WIDGET = `
  UPDATE channels_config SET version = version + 1, updated_at = now(),
    widget = jsonb_set(widget, '{config,project}', to_jsonb($2::text))
  WHERE ${WIDGET_PROJECT} = $1::text`;

/**
 * What others sent to a project goes back to where it came in, without the agent that it had there. Locks the tickets in
 * the order of their ids.
 */
export const TAKE_TICKETS_BACK = `
  WITH lent AS MATERIALIZED (
    SELECT id, home_project_id FROM tickets WHERE project_id = $1 AND home_project_id <> $1 ORDER BY id FOR UPDATE
  ), told AS (
    INSERT INTO ticket_events (ticket_id, project_id, actor, data)
    SELECT id, home_project_id, 'service', jsonb_build_object('decision', 'reroute', 'why', 'its project was deleted')
    FROM lent
  ), dropped AS (
    DELETE FROM drafts d USING lent WHERE d.ticket_id = lent.id
  )
  UPDATE tickets t SET project_id = t.home_project_id, agent_id = NULL, assignee = NULL, before_close = NULL,
    version = t.version + 1, updated_at = now()
  FROM lent WHERE t.id = lent.id RETURNING 1`;

/** Projects. */
export function projectsTable(db: Db) {
  async function findOne(where: string, value: string): Promise<Project | null> {
    const rows = await db.query<ProjectRow>(
      `SELECT ${COLUMNS} FROM projects WHERE ${where} = $1 AND deleted_at IS NULL`,
      [value],
    );
    const row = rows[0];
    return row === undefined ? null : asProject(row);
  }

  /** Makes a project; null when there is one of this name. */
  async function insert(project: NewProject): Promise<Project | null> {
    const rows = await db.query<ProjectRow>(
      `INSERT INTO projects (
         id, name, handoff_text, greeting, tables_as_xlsx, retention_days, file_retention_days,
         model_concurrency, model_tokens_per_day, handoff_texts
       ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`,
      [
        newId(),
        project.name,
        project.handoffText ?? DEFAULT_HANDOFF_TEXT,
        project.greeting ?? "",
        project.tablesAsXlsx ?? true,
        project.retentionDays ?? null,
        project.fileRetentionDays === undefined ? DEFAULT_FILE_RETENTION_DAYS : project.fileRetentionDays,
        project.modelLimits?.concurrency === undefined ? DEFAULT_CONCURRENCY : project.modelLimits.concurrency,
        project.modelLimits?.tokensPerDay ?? null,
        JSON.stringify(project.handoffTexts ?? {}),
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

    /** What signs the callbacks of a project; null if there is no such project. */
    async findWebhookSecrets(id: ProjectId): Promise<WebhookSecrets | null> {
      const [row] = await db.prepared<Pick<ProjectRow, "webhook_secret" | "previous_webhook_secret">>(
        "projects_find_webhook_secrets",
        `SELECT ${SECRETS} FROM projects WHERE id = $1 AND deleted_at IS NULL`,
        [id],
      );
      return row === undefined ? null : asSecrets(row);
    },

    /** All projects by name. */
    async list(): Promise<Project[]> {
      const rows = await db.query<ProjectRow>(`SELECT ${COLUMNS} FROM projects WHERE deleted_at IS NULL ORDER BY name`);
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
         WHERE deleted_at IS NULL AND ($2::uuid IS NULL OR id < $2) AND ($3::text IS NULL OR strpos(lower(name), lower($3)) > 0)
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
      if (project === null) throw new Error(`project ${name} disappeared while it was being created`);
      return { project, created: false };
    },

    /**
     * Changes what is named and raises the version, where `versions` has the present one or is null. A new name also
     * takes the place of the old one in the settings of the widget, in the same moment.
     */
    async update(
      id: ProjectId,
      change: ProjectUpdate,
      versions: readonly number[] | null = null,
    ): Promise<ProjectOutcome> {
      const columns = {
        name: change.name,
        handoff_text: change.handoffText,
        handoff_texts: change.handoffTexts === undefined ? undefined : JSON.stringify(change.handoffTexts),
        greeting: change.greeting,
        tables_as_xlsx: change.tablesAsXlsx,
        retention_days: change.retentionDays,
        file_retention_days: change.fileRetentionDays,
        model_concurrency: change.modelLimits?.concurrency,
        model_tokens_per_day: change.modelLimits?.tokensPerDay,
        webhook_secret: change.webhookSecret,
        previous_webhook_secret: change.previousWebhookSecret,
      };
      const given = Object.entries(columns).filter(([, value]) => value !== undefined);
      const sets = ["version = version + 1", ...given.map(([column], index) => `${column} = $${index + 2}`)];
      // What is kept for less long than before is looked for at once.
      if (change.retentionDays !== undefined) sets.push("purge_at = now()");
      if (change.fileRetentionDays !== undefined) sets.push("file_purge_at = now()");
      try {
        const changed = await db.transaction(async (tx) => {
          const [before] = await tx.query<{ name: string }>(
            `SELECT name FROM projects
             WHERE id = $1 AND deleted_at IS NULL AND ($2::integer[] IS NULL OR version = ANY ($2)) FOR UPDATE`,
            [id, versions],
          );
          if (before === undefined) return null;
          const [row] = await tx.query<ProjectRow>(
            `UPDATE projects SET ${sets.join(", ")} WHERE id = $1 RETURNING ${COLUMNS}`,
            [id, ...given.map(([, value]) => value)],
          );
          const after = change.name ?? before.name;
          if (after !== before.name) await tx.query(RENAME_IN_WIDGET, [before.name, after]);
          return row ?? null;
        });
        if (changed !== null) return { result: "changed", project: asProject(changed) };
        return { result: "stale", project: await findOne("id", id) };
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return { result: "taken", project: await findOne("id", id) };
      }
    },

    /**
     * Deletes a project, where `versions` has its present version or is null: nobody finds it from then on, its name is
     * free, its keys are revoked, nobody has a role in it, its knowledge bases deleted, and what others sent to it is back where it came in. What
     * it holds is removed by `erasures.purgeDeleted`, so that this takes no longer however much that is.
     */
    remove(id: ProjectId, versions: readonly number[] | null): Promise<ProjectRemoval> {
      return outlastDeadlocks(db, async (tx) => {
        // Waits for whoever is adding something that refers to the project, or is giving it to the widget.
        const [before] = await tx.query<{ name: string }>(
          `SELECT name FROM projects
           WHERE id = $1 AND deleted_at IS NULL AND ($2::integer[] IS NULL OR version = ANY ($2)) FOR UPDATE`,
          [id, versions],
        );
        if (before === undefined) return "stale";
        const widget = await tx.query(`SELECT 1 FROM channels_config WHERE ${WIDGET_PROJECT} = $1::text`, [
          before.name,
        ]);
        if (widget.length > 0) return "in_use";
        await tx.query(
          `UPDATE projects SET deleted_at = now(), purge_at = now(), name = '${DELETED_PREFIX}' || id, handoff_text = '', handoff_texts = '{}', greeting = '',
             webhook_secret = NULL, previous_webhook_secret = NULL
           WHERE id = $1`,
          [id],
        );
        await tx.query("DELETE FROM operator_roles WHERE project_id = $1", [id]);
        await tx.query("DELETE FROM operator_views WHERE project_id = $1", [id]);
        await tx.query("UPDATE api_keys SET revoked_at = now() WHERE project_id = $1 AND revoked_at IS NULL", [id]);
        await tx.query("UPDATE kbs SET deleted_at = now() WHERE project_id = $1 AND deleted_at IS NULL", [id]);
        await tx.query(TAKE_TICKETS_BACK, [id]);
        return "removed";
      });
    },

    /** How much a project holds, by what people call it. */
    async countHeld(id: ProjectId): Promise<Record<string, number>> {
      // Conversations are counted by their chats, which are there before their tickets.
      const rows = await db.query<Record<string, number>>(
        `SELECT (SELECT count(*) FROM agents WHERE project_id = $1) AS agents,
           (SELECT count(*) FROM kbs WHERE project_id = $1 AND deleted_at IS NULL) AS "knowledge bases",
           (SELECT count(*) FROM documents d JOIN kbs k ON k.id = d.kb_id
            WHERE k.project_id = $1 AND k.deleted_at IS NULL) AS documents,
           (SELECT count(*) FROM chats WHERE project_id = $1 AND chat_id <> '') AS tickets,
           (SELECT count(*) FROM api_keys WHERE project_id = $1 AND revoked_at IS NULL) AS "API keys",
           (SELECT count(*) FROM hooks WHERE project_id = $1) AS hooks,
           (SELECT count(*) FROM gaps WHERE project_id = $1) AS gaps,
           (SELECT count(*) FROM proposals WHERE project_id = $1) AS proposals,
           (SELECT count(*) FROM canned_replies WHERE project_id = $1) AS "canned replies"`,
        [id],
      );
      return rows[0] ?? {};
    },
  };
}

function asSecrets(row: Pick<ProjectRow, "webhook_secret" | "previous_webhook_secret">): WebhookSecrets {
  return webhookSecretsSchema.parse({
    webhookSecret: row.webhook_secret ?? null,
    previousWebhookSecret: row.previous_webhook_secret ?? null,
  });
}

function asProject(row: ProjectRow): Project {
  return {
    id: asProjectId(row.id),
    name: row.name,
    handoffText: row.handoff_text,
    handoffTexts: row.handoff_texts,
    greeting: row.greeting,
    tablesAsXlsx: row.tables_as_xlsx,
    retentionDays: row.retention_days,
    fileRetentionDays: row.file_retention_days,
    modelLimits: { concurrency: row.model_concurrency, tokensPerDay: row.model_tokens_per_day },
    ...asSecrets(row),
    createdAt: row.created_at,
    version: row.version,
  };
}
