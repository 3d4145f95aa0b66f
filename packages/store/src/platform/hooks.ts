import { HOOK_LIMITS } from "@svc/contracts";
import type { FieldFault, HookAuth, HookCondition, HookMapping, HookOutcome, HookPreset, Sealed } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** An inbound hook: how its calls prove themselves, and what becomes of their bodies. */
export interface Hook {
  id: string;
  project: ProjectId;
  projectName: string;
  name: string;
  preset: HookPreset | null;
  auth: HookAuth;
  secret: Sealed;
  /** The secret before the last rotation, and until when it counts. */
  previousSecret: (Sealed & { until: Date }) | null;
  mapping: HookMapping;
  filter: HookCondition[];
  createdAt: Date;
  createdBy: string;
  updatedAt: Date;
  version: number;
}

/** A hook to be made. */
export type NewHook = Pick<Hook, "name" | "preset" | "auth" | "secret" | "mapping" | "filter" | "createdBy">;
/** Fields of a hook that are to have other values. */
export type HookPatch = Partial<Pick<Hook, "name" | "auth" | "mapping" | "filter">>;

/** What became of a change: `taken` when another hook of the project has the name. */
export interface HookWrite {
  result: "changed" | "stale" | "taken";
  /** The hook as it is now; null when there is none. */
  hook: Hook | null;
}

/** What became of a body. */
export interface HookBodyResult {
  outcome: HookOutcome;
  faults: readonly FieldFault[];
  eventId: string | null;
  messageId: string | null;
  ticketId: string | null;
  chatId: string | null;
  userId: string | null;
}

/** A body that came in with a valid proof. */
export interface NewHookBody {
  /** Becomes the id of its message. */
  id: string;
  contentType: string;
  headers: Record<string, string>;
  content: Buffer;
}

/** One of the last bodies of a hook, with what became of it. */
export interface HookBody extends NewHookBody, HookBodyResult {
  /** Of the whole body, also where only the beginning of it was read. */
  sizeBytes: number;
  receivedAt: Date;
  tries: number;
  triedAt: Date;
}

/** The message that an event has become, or becomes. */
export interface HookEvent {
  messageId: string;
  chatId: string;
  /** True when an earlier call has claimed the event. */
  isRepeat: boolean;
}

interface HookRow {
  id: string;
  project_id: string;
  project_name: string;
  name: string;
  preset: HookPreset | null;
  auth: HookAuth;
  sealed_secret: string;
  previous_sealed_secret: string | null;
  previous_until: Date | null;
  mapping: HookMapping;
  filter: HookCondition[];
  created_at: Date;
  created_by: string;
  updated_at: Date;
  version: number;
}

interface BodyRow {
  id: string;
  received_at: Date;
  content_type: string;
  headers: Record<string, string>;
  content: Buffer;
  size_bytes: number;
  outcome: HookOutcome;
  faults: FieldFault[];
  event_id: string | null;
  message_id: string | null;
  ticket_id: string | null;
  chat_id: string | null;
  user_id: string | null;
  tries: number;
  tried_at: Date;
}

const HOOK_COLUMNS = `h.id, h.project_id, (SELECT p.name FROM projects p WHERE p.id = h.project_id) AS project_name,
  h.name, h.preset, h.auth, h.sealed_secret, h.previous_sealed_secret, h.previous_until, h.mapping, h.filter,
  h.created_at, h.created_by, h.updated_at, h.version`;

const BODY_COLUMNS = `b.id, b.received_at, b.content_type, b.headers, octet_length(b.content) AS size_bytes, b.outcome,
  b.faults, b.event_id, b.message_id, b.ticket_id, b.chat_id, b.user_id, b.tries, b.tried_at`;

/** A list shows characters of UTF-16, each of at most three bytes; one more tells that there is more. */
const LISTED_BYTES = 3 * (HOOK_LIMITS.shownBodyMaxChars + 1);

const asHook = (row: HookRow): Hook => ({
  id: row.id,
  project: asProjectId(row.project_id),
  projectName: row.project_name,
  name: row.name,
  preset: row.preset,
  auth: row.auth,
  secret: { sealed: row.sealed_secret },
  previousSecret:
    row.previous_sealed_secret === null || row.previous_until === null
      ? null
      : { sealed: row.previous_sealed_secret, until: row.previous_until },
  mapping: row.mapping,
  filter: row.filter,
  createdAt: row.created_at,
  createdBy: row.created_by,
  updatedAt: row.updated_at,
  version: row.version,
});

const asBody = (row: BodyRow): HookBody => ({
  id: row.id,
  receivedAt: row.received_at,
  contentType: row.content_type,
  headers: row.headers,
  content: row.content,
  sizeBytes: row.size_bytes,
  outcome: row.outcome,
  faults: row.faults,
  eventId: row.event_id,
  messageId: row.message_id,
  ticketId: row.ticket_id,
  chatId: row.chat_id,
  userId: row.user_id,
  tries: row.tries,
  triedAt: row.tried_at,
});

const resultValues = (result: HookBodyResult) => [
  result.outcome,
  JSON.stringify(result.faults),
  result.eventId,
  result.messageId,
  result.ticketId,
  result.chatId,
  result.userId,
];

/** Inbound hooks, their last bodies, and which events have become messages. */
export function hooksTable(db: Db) {
  async function find(project: ProjectId, id: string): Promise<Hook | null> {
    const [row] = await db.query<HookRow>(`SELECT ${HOOK_COLUMNS} FROM hooks h WHERE h.project_id = $1 AND h.id = $2`, [
      project,
      id,
    ]);
    return row === undefined ? null : asHook(row);
  }

  // A body whose message was erased since it was accepted is not kept: the message's row is locked, so that an erasure
  // either is over, or waits and finds the body. The newest twenty stay. Rows that another call removes right now are left
  // to it, so that two calls of one hook cannot wait for each other.
  const ADD_BODY = `
    WITH message AS MATERIALIZED (
      SELECT 1 FROM messages WHERE project_id = $1 AND id = $10::uuid FOR KEY SHARE
    ), added AS (
      INSERT INTO hook_bodies (project_id, id, hook_id, content_type, headers, content, outcome, faults, event_id,
        message_id, ticket_id, chat_id, user_id)
      SELECT $1, $2, h.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
      FROM hooks h WHERE h.id = $3 AND h.project_id = $1 AND ($10::uuid IS NULL OR EXISTS (SELECT 1 FROM message))
    )
    DELETE FROM hook_bodies WHERE id IN (
      SELECT id FROM hook_bodies WHERE hook_id = $3 AND project_id = $1 AND id <> $2
      ORDER BY id DESC OFFSET ${HOOK_LIMITS.keptBodies - 1} FOR UPDATE SKIP LOCKED
    )`;

  // As ADD_BODY: a body whose message was erased since goes too. One that is gone stays so. Locks the message's row, then
  // the body's, as an erasure does.
  const NOTE_BODY = `
    WITH message AS MATERIALIZED (
      SELECT 1 FROM messages WHERE project_id = $1 AND id = $6::uuid FOR KEY SHARE
    ), erased AS (
      DELETE FROM hook_bodies WHERE project_id = $1 AND id = $2 AND $6::uuid IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM message)
    )
    UPDATE hook_bodies SET outcome = $3, faults = $4, event_id = $5, message_id = $6, ticket_id = $7, chat_id = $8,
      user_id = $9, tries = tries + 1, tried_at = now()
    WHERE project_id = $1 AND id = $2
      AND CASE WHEN $6::uuid IS NULL THEN message_id IS NULL ELSE EXISTS (SELECT 1 FROM message) END`;

  // Whoever is first names the message; a row of another call is waited for until it is committed, and then read. The
  // update changes nothing: without it the statement would not answer a row that is there already.
  const CLAIM_EVENT = `
    INSERT INTO hook_events AS e (project_id, hook_id, event_id, message_id, chat_id)
    SELECT $1, h.id, $3, $4, $5 FROM hooks h WHERE h.id = $2 AND h.project_id = $1
    ON CONFLICT (hook_id, event_id) DO UPDATE SET event_id = e.event_id
    RETURNING e.message_id, e.chat_id`;

  return {
    find,

    /** The hook that a call names by its id, of whichever project: the call has no key that would say one. */
    async findForCall(id: string): Promise<Hook | null> {
      const [row] = await db.prepared<HookRow>(
        "hooks_find_for_call",
        // Nobody finds the hook of a project that was deleted.
        `SELECT ${HOOK_COLUMNS} FROM hooks h WHERE h.id = $1
           AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = h.project_id AND p.deleted_at IS NOT NULL)`,
        [id],
      );
      return row === undefined ? null : asHook(row);
    },

    /** Hooks of a project, newest first: those made before the one with the id `before`, and with `q` in the name. */
    async listPage(
      project: ProjectId,
      { limit, before, q }: { limit: number; before?: string | undefined; q?: string | undefined },
    ): Promise<Hook[]> {
      const rows = await db.query<HookRow>(
        `SELECT ${HOOK_COLUMNS} FROM hooks h
         WHERE h.project_id = $1 AND ($3::uuid IS NULL OR h.id < $3)
           AND ($4::text IS NULL OR strpos(lower(h.name), lower($4)) > 0)
         ORDER BY h.id DESC LIMIT $2`,
        [project, limit, before ?? null, q ?? null],
      );
      return rows.map(asHook);
    },

    /** Makes a hook, unless its name is taken: null then. */
    async insert(project: ProjectId, hook: NewHook): Promise<Hook | null> {
      const id = newId();
      const rows = await db.query(
        `INSERT INTO hooks (project_id, id, name, preset, auth, sealed_secret, mapping, filter, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project_id, name) DO NOTHING RETURNING id`,
        [
          project,
          id,
          hook.name,
          hook.preset,
          JSON.stringify(hook.auth),
          hook.secret.sealed,
          JSON.stringify(hook.mapping),
          JSON.stringify(hook.filter),
          hook.createdBy,
        ],
      );
      return rows.length === 0 ? null : find(project, id);
    },

    /** Changes fields of a hook and raises its version, where `versions` has the present one or is null. */
    async update(
      project: ProjectId,
      id: string,
      { name, auth, mapping, filter }: HookPatch,
      versions: readonly number[] | null = null,
    ): Promise<HookWrite> {
      const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
      try {
        const rows = await db.query(
          `UPDATE hooks SET version = version + 1, updated_at = now(), name = coalesce($4, name),
             auth = coalesce($5::jsonb, auth), mapping = coalesce($6::jsonb, mapping),
             filter = coalesce($7::jsonb, filter)
           WHERE project_id = $1 AND id = $2 AND ($3::integer[] IS NULL OR version = ANY ($3)) RETURNING id`,
          [project, id, versions, name ?? null, json(auth), json(mapping), json(filter)],
        );
        return { result: rows.length === 0 ? "stale" : "changed", hook: await find(project, id) };
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return { result: "taken", hook: await find(project, id) };
      }
    },

    /**
     * Gives a hook a new secret and raises its version; the present one counts for `overlapSeconds` more, with 0 not any
     * more. Null when the project has no such hook.
     */
    async rotate(project: ProjectId, id: string, secret: Sealed, overlapSeconds: number): Promise<Hook | null> {
      await db.query(
        `UPDATE hooks SET version = version + 1, updated_at = now(), sealed_secret = $3,
           previous_sealed_secret = CASE WHEN $4 > 0 THEN sealed_secret END,
           previous_until = CASE WHEN $4 > 0 THEN now() + $4::integer * interval '1 second' END
         WHERE project_id = $1 AND id = $2`,
        [project, id, secret.sealed, overlapSeconds],
      );
      return find(project, id);
    },

    /** Deletes a hook with its bodies and events, where `versions` has its present version or is null. */
    async remove(project: ProjectId, id: string, versions: readonly number[] | null = null): Promise<boolean> {
      const rows = await db.query(
        `DELETE FROM hooks
         WHERE project_id = $1 AND id = $2 AND ($3::integer[] IS NULL OR version = ANY ($3)) RETURNING id`,
        [project, id, versions],
      );
      return rows.length > 0;
    },

    /** Keeps a body with what became of it, and removes those that are more than twenty. */
    async addBody(project: ProjectId, hookId: string, body: NewHookBody, result: HookBodyResult): Promise<void> {
      await db.query(ADD_BODY, [
        project,
        body.id,
        hookId,
        body.contentType,
        JSON.stringify(body.headers),
        body.content,
        ...resultValues(result),
      ]);
    },

    /**
     * Notes what became of a body that was tried again, if it is still kept; where its message was erased in between, it
     * is removed.
     */
    async noteBody(project: ProjectId, bodyId: string, result: HookBodyResult): Promise<void> {
      await db.query(NOTE_BODY, [project, bodyId, ...resultValues(result)]);
    },

    /** The last bodies of a hook, newest first, of each as much as is shown of it. */
    async listBodies(project: ProjectId, hookId: string): Promise<HookBody[]> {
      const rows = await db.query<BodyRow>(
        `SELECT ${BODY_COLUMNS}, substring(b.content FROM 1 FOR ${LISTED_BYTES}) AS content
         FROM hook_bodies b WHERE b.project_id = $1 AND b.hook_id = $2
         ORDER BY b.id DESC LIMIT ${HOOK_LIMITS.keptBodies}`,
        [project, hookId],
      );
      return rows.map(asBody);
    },

    /** One of the last bodies of a hook, or null. */
    async findBody(project: ProjectId, hookId: string, bodyId: string): Promise<HookBody | null> {
      const [row] = await db.query<BodyRow>(
        `SELECT ${BODY_COLUMNS}, b.content FROM hook_bodies b
         WHERE b.project_id = $1 AND b.hook_id = $2 AND b.id = $3`,
        [project, hookId, bodyId],
      );
      return row === undefined ? null : asBody(row);
    },

    /**
     * Claims an event for a message with these ids, or says which one it has become. Null when the hook is gone. Waits
     * for another call that claims the same event right now.
     */
    async claimEvent(
      project: ProjectId,
      hookId: string,
      eventId: string,
      ids: { messageId: string; chatId: string },
    ): Promise<HookEvent | null> {
      const [row] = await db.query<{ message_id: string; chat_id: string }>(CLAIM_EVENT, [
        project,
        hookId,
        eventId,
        ids.messageId,
        ids.chatId,
      ]);
      if (row === undefined) return null;
      return { messageId: row.message_id, chatId: row.chat_id, isRepeat: row.message_id !== ids.messageId };
    },

    /** Forgets bodies after 30 days and events after 7, at most `limit` of each; answers how many. */
    async forgetOld(limit: number): Promise<number> {
      const bodies = await db.query(
        `DELETE FROM hook_bodies WHERE id IN (
           SELECT id FROM hook_bodies WHERE received_at < now() - interval '${HOOK_LIMITS.keptDays} days'
           LIMIT $1 FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [limit],
      );
      const events = await db.query(
        `DELETE FROM hook_events WHERE ctid IN (
           SELECT ctid FROM hook_events WHERE created_at < now() - interval '${HOOK_LIMITS.eventDays} days'
           LIMIT $1 FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [limit],
      );
      return bodies.length + events.length;
    },
  };
}
