import type { OperatorRole } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A person who works with the product. Operators belong to the installation; their roles name projects. */
export interface OperatorRecord {
  id: string;
  email: string;
  name: string;
  /** A project by its name, or `*` for all. */
  roles: { project: string; role: OperatorRole }[];
  hasPassword: boolean;
  createdAt: Date;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  version: number;
}

/** A role in one project; null: in every one. */
export interface NewRole {
  project: ProjectId | null;
  role: OperatorRole;
}

/** What of an operator is given; what is left out stays. */
export interface OperatorFields {
  email?: string | undefined;
  name?: string | undefined;
  roles?: readonly NewRole[] | undefined;
  /** As `hashPassword` makes it; null takes the password away. */
  passwordHash?: string | null | undefined;
  disabled?: boolean | undefined;
}

/**
 * What became of a change: `taken` when somebody else has the e-mail address, `last` when nobody would be left who
 * administers everything, `stale` when the operator has another version. `record` is as it is now, null where there is
 * none.
 */
export interface OperatorOutcome {
  result: "changed" | "stale" | "taken" | "last";
  record: OperatorRecord | null;
}

interface OperatorRow {
  id: string;
  email: string;
  name: string;
  roles: { project: string; role: OperatorRole }[];
  has_password: boolean;
  created_at: Date;
  last_seen_at: Date | null;
  disabled_at: Date | null;
  version: number;
}

const COLUMNS = `o.id, o.email, o.name, o.password_hash IS NOT NULL AS has_password, o.created_at, o.last_seen_at,
  o.disabled_at, o.version, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('project', coalesce(p.name, '*'), 'role', r.role)
      ORDER BY p.name NULLS FIRST), '[]'::jsonb)
    FROM operator_roles r LEFT JOIN projects p ON p.id = r.project_id
    WHERE r.operator_id = o.id AND p.deleted_at IS NULL
  ) AS roles`;

/** Rolls a change back that would leave nobody who administers everything. */
class LastAdministratorError extends Error {
  constructor() {
    super("there would be no administrator of all projects");
    this.name = "LastAdministratorError";
  }
}

/** What an e-mail address is compared by: one person, however it is written. */
export const emailKeyOf = (email: string): string => email.normalize("NFC").toLowerCase();

/** People who work with the product. */
export function operatorsTable(db: Db) {
  async function findOne(on: Db, where: string, value: string): Promise<OperatorRecord | null> {
    const rows = await on.query<OperatorRow>(`SELECT ${COLUMNS} FROM operators o WHERE ${where} = $1`, [value]);
    const row = rows[0];
    return row === undefined ? null : asOperator(row);
  }

  const find = (id: string): Promise<OperatorRecord | null> => findOne(db, "o.id", id);

  async function setRoles(tx: Db, id: string, roles: readonly NewRole[]): Promise<void> {
    await tx.query("DELETE FROM operator_roles WHERE operator_id = $1", [id]);
    await tx.query(
      `INSERT INTO operator_roles (operator_id, project_id, role)
       SELECT $1, r.project_id, r.role FROM unnest($2::uuid[], $3::text[]) AS r (project_id, role)`,
      [id, roles.map(({ project }) => project), roles.map(({ role }) => role)],
    );
  }

  /** Who administers everything and may sign in; their rows stay locked, in the order of their ids, until the commit. */
  async function lockAdministrators(tx: Db): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `SELECT o.id FROM operators o WHERE o.disabled_at IS NULL AND EXISTS (
         SELECT 1 FROM operator_roles r
         WHERE r.operator_id = o.id AND r.project_id IS NULL AND r.role = 'administrator')
       ORDER BY o.id FOR UPDATE OF o`,
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Changes an operator with `work`, which answers false when it has another version, and takes everything back when
   * the last one who administers everything would be lost by that.
   */
  async function change(id: string, work: (tx: Db) => Promise<boolean>): Promise<OperatorOutcome> {
    try {
      const isChanged = await db.transaction(async (tx) => {
        const before = await lockAdministrators(tx);
        if (!(await work(tx))) return false;
        const after = await lockAdministrators(tx);
        if (before.length > 0 && after.length === 0) throw new LastAdministratorError();
        return true;
      });
      return { result: isChanged ? "changed" : "stale", record: await find(id) };
    } catch (error) {
      if (error instanceof LastAdministratorError) return { result: "last", record: await find(id) };
      if (isUniqueViolation(error)) return { result: "taken", record: await find(id) };
      throw error;
    }
  }

  return {
    find,

    /** The operator with this e-mail address, in any case of its letters, or null. */
    findByEmail: (email: string): Promise<OperatorRecord | null> => findOne(db, "o.email_key", emailKeyOf(email)),

    /** What a password is compared with; null for an unknown address, one without a password, and a disabled one. */
    async findPassword(email: string): Promise<{ id: string; passwordHash: string } | null> {
      const rows = await db.query<{ id: string; password_hash: string }>(
        `SELECT id, password_hash FROM operators
         WHERE email_key = $1 AND password_hash IS NOT NULL AND disabled_at IS NULL`,
        [emailKeyOf(email)],
      );
      const row = rows[0];
      return row === undefined ? null : { id: row.id, passwordHash: row.password_hash };
    },

    /** Makes an operator; null when somebody has this e-mail address. */
    async insert(operator: OperatorFields & { email: string; name: string }): Promise<OperatorRecord | null> {
      const id = newId();
      return db.transaction(async (tx) => {
        const rows = await tx.query(
          `INSERT INTO operators (id, email, email_key, name, password_hash) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (email_key) DO NOTHING RETURNING id`,
          [id, operator.email, emailKeyOf(operator.email), operator.name, operator.passwordHash ?? null],
        );
        if (rows.length === 0) return null;
        await setRoles(tx, id, operator.roles ?? []);
        return findOne(tx, "o.id", id);
      });
    },

    /** Operators, newest first: those made before the one with the id `before`, and with `q` in name or e-mail address. */
    async listPage(options: {
      limit: number;
      before?: string | undefined;
      q?: string | undefined;
    }): Promise<OperatorRecord[]> {
      const rows = await db.query<OperatorRow>(
        `SELECT ${COLUMNS} FROM operators o
         WHERE ($2::uuid IS NULL OR o.id < $2)
           AND ($3::text IS NULL OR strpos(lower(o.name), lower($3)) > 0 OR strpos(lower(o.email), lower($3)) > 0)
         ORDER BY o.id DESC LIMIT $1`,
        [options.limit, options.before ?? null, options.q ?? null],
      );
      return rows.map(asOperator);
    },

    /** Who may sign in and has a role in a project, or in all of them, with these roles: the first `limit` by their names. */
    listOfProject: (
      project: ProjectId,
      limit: number,
    ): Promise<{ id: string; name: string; roles: OperatorRole[] }[]> =>
      db.query<{ id: string; name: string; roles: OperatorRole[] }>(
        `SELECT o.id, o.name, array_agg(DISTINCT r.role) AS roles FROM operators o
         JOIN operator_roles r ON r.operator_id = o.id AND (r.project_id IS NULL OR r.project_id = $1)
         WHERE o.disabled_at IS NULL
         GROUP BY o.id, o.name ORDER BY lower(o.name), o.id LIMIT $2`,
        [project, limit],
      ),

    /** Changes what is given, where `versions` has the present version or is null. */
    update: (id: string, fields: OperatorFields, versions: readonly number[] | null): Promise<OperatorOutcome> =>
      change(id, async (tx) => {
        const rows = await tx.query(
          `UPDATE operators SET email = coalesce($2, email), email_key = coalesce($3, email_key),
             name = coalesce($4, name), password_hash = CASE WHEN $5::boolean THEN $6 ELSE password_hash END,
             disabled_at = CASE $7::boolean WHEN true THEN coalesce(disabled_at, now()) WHEN false THEN NULL ELSE disabled_at END,
             version = version + 1
           WHERE id = $1 AND ($8::integer[] IS NULL OR version = ANY ($8)) RETURNING id`,
          [
            id,
            fields.email ?? null,
            fields.email === undefined ? null : emailKeyOf(fields.email),
            fields.name ?? null,
            fields.passwordHash !== undefined,
            fields.passwordHash ?? null,
            fields.disabled ?? null,
            versions,
          ],
        );
        if (rows.length === 0) return false;
        if (fields.roles !== undefined) await setRoles(tx, id, fields.roles);
        // Who is shut out, or may have lost the password to somebody, is signed out everywhere for good.
        if (fields.disabled === true || fields.passwordHash !== undefined) {
          await tx.query("DELETE FROM operator_sessions WHERE operator_id = $1", [id]);
          await tx.query("DELETE FROM operator_links WHERE operator_id = $1", [id]);
        }
        return true;
      }),

    /** Deletes an operator, where `versions` has the present version or is null. */
    remove: (id: string, versions: readonly number[] | null): Promise<OperatorOutcome> =>
      change(id, async (tx) => {
        const rows = await tx.query(
          "DELETE FROM operators WHERE id = $1 AND ($2::integer[] IS NULL OR version = ANY ($2)) RETURNING id",
          [id, versions],
        );
        return rows.length > 0;
      }),
  };
}

function asOperator(row: OperatorRow): OperatorRecord {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    roles: row.roles,
    hasPassword: row.has_password,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    disabledAt: row.disabled_at,
    version: row.version,
  };
}
