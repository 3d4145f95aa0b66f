import { isUniqueViolation } from "../db.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A text that operators send again and again. */
export interface CannedReplyRecord {
  id: string;
  name: string;
  /** Markdown with variables. */
  text: string;
  folder: string | null;
  tags: string[];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** What of a canned reply is given; what is left out stays, or has its default. */
export interface CannedReplyFields {
  name?: string | undefined;
  text?: string | undefined;
  folder?: string | null | undefined;
  tags?: string[] | undefined;
}

/** What variables of a canned reply stand for. */
export interface TicketFacts {
  userId: string | null;
  chatId: string;
  subject: string;
  channelId: string;
  language: string | null;
  agentName: string | null;
  projectName: string;
}

interface CannedReplyRow {
  id: string;
  name: string;
  text: string;
  folder: string | null;
  tags: string[];
  created_at: Date;
  updated_at: Date;
  version: number;
}

const COLUMNS = "id, name, text, folder, tags, created_at, updated_at, version";

/** Canned replies of a project. */
export function cannedRepliesTable(db: Db) {
  async function find(project: ProjectId, id: string): Promise<CannedReplyRecord | null> {
    const rows = await db.query<CannedReplyRow>(
      `SELECT ${COLUMNS} FROM canned_replies WHERE project_id = $1 AND id = $2`,
      [project, id],
    );
    const row = rows[0];
    return row === undefined ? null : asCannedReply(row);
  }

  return {
    find,

    /** Makes a canned reply; null when the project has one of this name. */
    async insert(
      project: ProjectId,
      fields: CannedReplyFields & { name: string; text: string },
    ): Promise<CannedReplyRecord | null> {
      const rows = await db.query<CannedReplyRow>(
        `INSERT INTO canned_replies (id, project_id, name, text, folder, tags) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, name) DO NOTHING RETURNING ${COLUMNS}`,
        [newId(), project, fields.name, fields.text, fields.folder ?? null, fields.tags ?? []],
      );
      const row = rows[0];
      return row === undefined ? null : asCannedReply(row);
    },

    /**
     * Canned replies, newest first: those made before the one with the id `before`, with `q` in name or text, in one
     * folder and with one tag.
     */
    async listPage(
      project: ProjectId,
      options: {
        limit: number;
        before?: string | undefined;
        q?: string | undefined;
        folder?: string | undefined;
        tag?: string | undefined;
      },
    ): Promise<CannedReplyRecord[]> {
      const rows = await db.query<CannedReplyRow>(
        `SELECT ${COLUMNS} FROM canned_replies
         WHERE project_id = $1 AND ($3::uuid IS NULL OR id < $3)
           AND ($4::text IS NULL OR strpos(lower(name), lower($4)) > 0 OR strpos(lower(text), lower($4)) > 0)
           AND ($5::text IS NULL OR folder = $5) AND ($6::text IS NULL OR $6 = ANY (tags))
         ORDER BY id DESC LIMIT $2`,
        [
          project,
          options.limit,
          options.before ?? null,
          options.q ?? null,
          options.folder ?? null,
          options.tag ?? null,
        ],
      );
      return rows.map(asCannedReply);
    },

    /**
     * Changes what is given, where `versions` has the present version or is null. `record` is as it is now; null when the
     * project has none of this id.
     */
    async update(
      project: ProjectId,
      id: string,
      fields: CannedReplyFields,
      versions: readonly number[] | null,
    ): Promise<{ result: "changed" | "stale" | "taken"; record: CannedReplyRecord | null }> {
      try {
        const rows = await db.query(
          `UPDATE canned_replies SET name = coalesce($3, name), text = coalesce($4, text),
             folder = CASE WHEN $5 THEN $6 ELSE folder END, tags = coalesce($7, tags), version = version + 1,
             updated_at = now()
           WHERE project_id = $1 AND id = $2 AND ($8::integer[] IS NULL OR version = ANY ($8)) RETURNING id`,
          [
            project,
            id,
            fields.name ?? null,
            fields.text ?? null,
            fields.folder !== undefined,
            fields.folder ?? null,
            fields.tags ?? null,
            versions,
          ],
        );
        return { result: rows.length === 0 ? "stale" : "changed", record: await find(project, id) };
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return { result: "taken", record: await find(project, id) };
      }
    },

    /** Deletes a canned reply, where `versions` has its present version or is null; false when it has another one. */
    async remove(project: ProjectId, id: string, versions: readonly number[] | null): Promise<boolean> {
      const rows = await db.query(
        `DELETE FROM canned_replies WHERE project_id = $1 AND id = $2 AND ($3::integer[] IS NULL OR version = ANY ($3))
         RETURNING id`,
        [project, id, versions],
      );
      return rows.length > 0;
    },

    /** What variables stand for in a conversation that this project works on; null when there is none of this id. */
    async findTicketFacts(project: ProjectId, ticketId: string): Promise<TicketFacts | null> {
      const rows = await db.query<{
        user_id: string | null;
        chat_id: string;
        subject: string;
        channel_id: string;
        language: string | null;
        agent_name: string | null;
        project_name: string;
      }>(
        `SELECT t.user_id, t.chat_id, t.subject, t.channel_id, t.language, a.name AS agent_name, p.name AS project_name
         FROM tickets t JOIN projects p ON p.id = t.project_id
         LEFT JOIN agents a ON a.id = t.agent_id AND a.project_id = t.project_id
         WHERE t.project_id = $1 AND t.id = $2`,
        [project, ticketId],
      );
      const row = rows[0];
      if (row === undefined) return null;
      return {
        userId: row.user_id,
        chatId: row.chat_id,
        subject: row.subject,
        channelId: row.channel_id,
        language: row.language,
        agentName: row.agent_name,
        projectName: row.project_name,
      };
    },
  };
}

function asCannedReply(row: CannedReplyRow): CannedReplyRecord {
  return {
    id: row.id,
    name: row.name,
    text: row.text,
    folder: row.folder,
    tags: row.tags,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}
