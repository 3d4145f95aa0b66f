import { webhookSecretsSchema } from "@svc/contracts";
import type { BusinessHours, Quotas, ReplyEmails, SlaTarget, WebhookSecrets } from "@svc/contracts";
import { isUniqueViolation, retryOnDeadlock } from "../db.ts";
import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** Limits of a project's use of language models; null for none. */
export interface ModelLimits {
  /** Concurrent calls, in each process. */
  concurrency: number | null;
  /** Tokens of prompts and answers, per day (UTC). */
  tokensPerDay: number | null;
}

/** A project: a tenant, isolated from other projects. */
export interface Project extends WebhookSecrets {
  id: ProjectId;
  name: string;
  /** Text for a customer whose conversation is handed over to a person; may be empty. */
  handoffText: string;
  /** The same by language (ISO 639-1), for languages with their own text. */
  handoffTexts: Readonly<Record<string, string>>;
  /** Text for a customer who starts the bot; empty for the default. */
  greeting: string;
  /** True if each Markdown table of an answer is also sent as an XLSX file. */
  tablesAsXlsx: boolean;
  retentionDays: number | null;
  /** Retention of visitors' files in days; null: as long as their conversation. */
  fileRetentionDays: number | null;
  modelLimits: ModelLimits;
  quotas: Quotas;
  /** Business hours of the team; null: always open. */
  businessHours: BusinessHours | null;
  /** Usual reply time of the team in minutes; null: unknown. */
  replyTimeMinutes: number | null;
  /** SLA targets; the first that matches a ticket applies. */
  slaTargets: readonly SlaTarget[];
  /** Whether replies of the widget are sent by email to customers who have left; null: never. */
  replyEmails: ReplyEmails | null;
  createdAt: Date;
  version: number;
}

/** Fields of a new project; absent settings have their default. */
export interface NewProject {
  name: string;
  handoffText?: string | undefined;
  handoffTexts?: Readonly<Record<string, string>> | undefined;
  greeting?: string | undefined;
  tablesAsXlsx?: boolean | undefined;
  retentionDays?: number | null | undefined;
  fileRetentionDays?: number | null | undefined;
  modelLimits?: { concurrency?: number | null | undefined; tokensPerDay?: number | null | undefined } | undefined;
  quotas?: { [Name in keyof Quotas]?: number | null | undefined } | undefined;
  businessHours?: BusinessHours | null | undefined;
  replyTimeMinutes?: number | null | undefined;
  slaTargets?: readonly SlaTarget[] | undefined;
  replyEmails?: ReplyEmails | null | undefined;
}

/** Changed fields of a project; omitted ones are unchanged. */
export type ProjectUpdate = Partial<Omit<NewProject, "name">> & Partial<WebhookSecrets> & { name?: string | undefined };

/**
 * Result of a change: `stale` if the project has another version or was deleted, `taken` if another one has the new
 * name.
 */
export interface ProjectOutcome {
  result: "changed" | "stale" | "taken";
  /** The current state of the project; null if there is none. */
  project: Project | null;
}

/** The project of requests that do not name one. */
export const DEFAULT_PROJECT = "default";

/** Result of a deletion: `stale` if the project has another version or was deleted, `in_use` if it is the widget's. */
export type ProjectRemoval = "removed" | "stale" | "in_use";

/** Enough for a busy chat, and so few that one project does not use up a provider's limit. */
const DEFAULT_CONCURRENCY = 8;

/** Long enough to work on a case; not unlimited, since files of strangers fill the disk. */
const DEFAULT_FILE_RETENTION_DAYS = 90;

/** Unset limits are null. */
const NO_QUOTAS: Quotas = { messagesPerDay: null, documents: null, storageMb: null, sockets: null };

const DEFAULT_HANDOFF_TEXT = "Thank you for your message. A member of our team will look at it and reply here.";

interface SecretRow {
  webhookSecret: unknown;
  previousWebhookSecret: unknown;
}

interface ProjectRow extends Omit<Project, "modelLimits" | "quotas" | keyof SecretRow>, SecretRow {
  quotas: Partial<Quotas>;
  modelConcurrency: number | null;
  modelTokensPerDay: number | null;
}

/** SQL for a secret of a project; the default project's secrets are settings of the installation. */
const secretColumn = (column: string, setting: string) =>
  `CASE WHEN name = '${DEFAULT_PROJECT}' THEN (SELECT c.api #> '{config,${setting}}' FROM channels_config c) ELSE ${column} END AS ${column}`;

const SECRETS = `${secretColumn("webhook_secret", "webhookSecret")}, ${secretColumn("previous_webhook_secret", "previousWebhookSecret")}`;

const COLUMNS = `${SECRETS}, id, name, handoff_text, handoff_texts, greeting, tables_as_xlsx, retention_days, file_retention_days, model_concurrency, model_tokens_per_day, quotas, business_hours, reply_time_minutes, sla_targets, reply_emails, created_at, version`;

/** Prefix of the name of a deleted project, before its id: valid names have no space. */
const DELETED_PREFIX = "deleted ";

const sql = statements("platform/projects", {
  secrets: SECRETS,
  columns: COLUMNS,
  defaultProject: DEFAULT_PROJECT,
  deletedPrefix: DELETED_PREFIX,
});

/** Returns the JSON of a setting; null and undefined are unchanged. */
const jsonOrNull = (value: object | null | undefined) => (value == null ? value : JSON.stringify(value));

async function findOne(found: Promise<ProjectRow | null>): Promise<Project | null> {
  const row = await found;
  return row === null ? null : asProject(row);
}

/** Creates a project; null if there is one with this name. */
export async function insert(db: Db, project: NewProject): Promise<Project | null> {
  const row = await sql.insert.one<ProjectRow>(db, {
    id: newId(),
    name: project.name,
    handoffText: project.handoffText ?? DEFAULT_HANDOFF_TEXT,
    greeting: project.greeting ?? "",
    tablesAsXlsx: project.tablesAsXlsx ?? true,
    retentionDays: project.retentionDays,
    fileRetentionDays:
      project.fileRetentionDays === undefined ? DEFAULT_FILE_RETENTION_DAYS : project.fileRetentionDays,
    modelConcurrency:
      project.modelLimits?.concurrency === undefined ? DEFAULT_CONCURRENCY : project.modelLimits.concurrency,
    modelTokensPerDay: project.modelLimits?.tokensPerDay,
    handoffTexts: JSON.stringify(project.handoffTexts ?? {}),
    quotas: JSON.stringify(project.quotas ?? {}),
    businessHours: jsonOrNull(project.businessHours),
    replyTimeMinutes: project.replyTimeMinutes,
    slaTargets: JSON.stringify(project.slaTargets ?? []),
    replyEmails: jsonOrNull(project.replyEmails),
  });
  return row === null ? null : asProject(row);
}

/** Returns the project with this name, or null. */
export const findByName = (db: Db, name: string): Promise<Project | null> =>
  findOne(sql.findByName.one<ProjectRow>(db, { name }));

/** Returns the project with this id, or null. */
export const find = (db: Db, id: ProjectId): Promise<Project | null> => findOne(sql.find.one<ProjectRow>(db, { id }));

/** Returns the secrets that sign the callbacks of a project; null if there is no such project. */
export async function findWebhookSecrets(db: Db, id: ProjectId): Promise<WebhookSecrets | null> {
  const row = await sql.findWebhookSecrets.one<SecretRow>(db, { id });
  return row === null ? null : asSecrets(row);
}

/** Returns all projects by name. */
export async function list(db: Db): Promise<Project[]> {
  const rows = await sql.list.all<ProjectRow>(db);
  return rows.map(asProject);
}

/**
 * Returns projects, newest first: those created before the project with id `before`, and with `q` in the name. Ids sort
 * by time, so that pages do not shift when projects are added.
 */
export async function listPage(db: Db, { limit, before, q }: PageQuery): Promise<Project[]> {
  const rows = await sql.listPage.all<ProjectRow>(db, { limit, before, q });
  return rows.map(asProject);
}

/** Creates a project, or returns the one with this name. */
export async function ensure(db: Db, name: string): Promise<{ project: Project; created: boolean }> {
  const made = await insert(db, { name });
  if (made !== null) return { project: made, created: true };
  const project = await findByName(db, name);
  if (project === null) throw new Error(`project ${name} disappeared while it was being created`);
  return { project, created: false };
}

/** SQL that sets a column. Omitted quotas are unchanged; those that are null are removed. */
const setColumn = (column: string, value: string) =>
  column === "quotas" ? `quotas = jsonb_strip_nulls(quotas || ${value}::jsonb)` : `${column} = ${value}`;

/**
 * Changes the given fields and raises the version, if `versions` contains the current one or is null. A new name also
 * replaces the old one in the widget's settings, in the same transaction.
 */
export async function update(
  db: Db,
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
    quotas: change.quotas === undefined ? undefined : JSON.stringify(change.quotas),
    business_hours: jsonOrNull(change.businessHours),
    reply_time_minutes: change.replyTimeMinutes,
    sla_targets: jsonOrNull(change.slaTargets),
    reply_emails: jsonOrNull(change.replyEmails),
    webhook_secret: change.webhookSecret,
    previous_webhook_secret: change.previousWebhookSecret,
  };
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  const sets = ["version = version + 1", ...given.map(([column], index) => setColumn(column, `$${index + 2}`))];
  // A shorter retention takes effect at once.
  if (change.retentionDays !== undefined) sets.push("purge_at = now()");
  if (change.fileRetentionDays !== undefined) sets.push("file_purge_at = now()");
  try {
    const changed = await db.transaction(async (tx) => {
      const before = await sql.update.one(tx, { id, versions });
      if (before === null) return null;
      const [row] = await tx.query<ProjectRow>(
        `UPDATE projects SET ${sets.join(", ")} WHERE id = $1 RETURNING ${COLUMNS}`,
        [id, ...given.map(([, value]) => value)],
      );
      const after = change.name ?? before.name;
      if (after !== before.name) await sql.renameInWidget.run(tx, { name: before.name, after });
      return row ?? null;
    });
    if (changed !== null) return { result: "changed", project: asProject(changed) };
    return { result: "stale", project: await find(db, id) };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { result: "taken", project: await find(db, id) };
  }
}

/**
 * Deletes a project, if `versions` contains its current version or is null: it can no longer be found, its name is
 * free, its keys are revoked, its webhooks are inactive, its roles and knowledge bases are deleted, and tickets from
 * other projects return to them. `erasures.purgeDeleted` removes its data, so that this is fast for any size.
 */
export const remove = (db: Db, id: ProjectId, versions: readonly number[] | null): Promise<ProjectRemoval> =>
  retryOnDeadlock(db, async (tx) => {
    const before = await sql.remove.one(tx, { id, versions });
    if (before === null) return "stale";
    const count = await sql.isOfWidget.run(tx, { name: before.name });
    if (count > 0) return "in_use";
    await sql.markDeleted.run(tx, { id });
    await sql.deleteRoles.run(tx, { id });
    await sql.deleteViews.run(tx, { id });
    await sql.deactivateWebhooks.run(tx, { id });
    await sql.revokeKeys.run(tx, { id });
    await sql.deleteKbs.run(tx, { id });
    await sql.returnTickets.run(tx, { id });
    return "removed";
  });

/** Counts the contents of a project, for display. */
export async function countHeld(db: Db, id: ProjectId): Promise<Record<string, number>> {
  const row = await sql.countHeld.one(db, { id });
  return { ...row };
}

function asSecrets({ webhookSecret, previousWebhookSecret }: SecretRow): WebhookSecrets {
  return webhookSecretsSchema.parse({
    webhookSecret: webhookSecret ?? null,
    previousWebhookSecret: previousWebhookSecret ?? null,
  });
}

function asProject({ modelConcurrency, modelTokensPerDay, quotas, ...row }: ProjectRow): Project {
  return {
    ...row,
    quotas: { ...NO_QUOTAS, ...quotas },
    modelLimits: { concurrency: modelConcurrency, tokensPerDay: modelTokensPerDay },
    ...asSecrets(row),
  };
}

/** Returns tickets from other projects to them; true if there were any. */
export const returnTickets = (db: Db, id: ProjectId) => sql.returnTickets.any(db, { id });
