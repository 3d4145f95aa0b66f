import type { Db } from "../db.ts";
import { newId } from "../ids.ts";

/** What a link is for: an operator who chooses a password, or (null) the first administrator. */
export interface LinkRecord {
  operatorId: string | null;
  expiresAt: Date;
}

interface LinkRow {
  operator_id: string | null;
  expires_at: Date;
}

/** Number of the advisory lock that whoever makes the first administrator holds; nothing else of ours takes it. */
const FIRST_LOCK = 7_305_417;

/** Links that let somebody in once. A token is known by its SHA-256 alone. */
export function operatorLinksTable(db: Db) {
  const isFirstMissing = async (on: Db): Promise<boolean> => {
    const rows = await on.query<{ has: boolean }>(
      "SELECT EXISTS (SELECT 1 FROM operators WHERE password_hash IS NOT NULL AND disabled_at IS NULL) AS has",
    );
    return rows[0]?.has === false;
  };

  return {
    /** True while nobody has a password with which to sign in. */
    isFirstMissing: (): Promise<boolean> => isFirstMissing(db),

    /** Makes a link, in the place of an earlier one for the same. */
    async put(operatorId: string | null, hash: Buffer, lifetimeSeconds: number): Promise<LinkRecord> {
      const rows = await db.query<LinkRow>(
        `INSERT INTO operator_links (id, operator_id, hash, expires_at)
         VALUES ($1, $2, $3, now() + make_interval(secs => $4))
         ON CONFLICT (coalesce(operator_id, '00000000-0000-0000-0000-000000000000'))
         DO UPDATE SET id = EXCLUDED.id, hash = EXCLUDED.hash, created_at = now(), expires_at = EXCLUDED.expires_at
         RETURNING operator_id, expires_at`,
        [newId(), operatorId, hash, lifetimeSeconds],
      );
      const [row] = rows;
      if (row === undefined) throw new Error("a stored link was not found");
      return { operatorId: row.operator_id, expiresAt: row.expires_at };
    },

    /** The link with this SHA-256, as long as it can be used, or null. */
    async find(hash: Buffer): Promise<LinkRecord | null> {
      const rows = await db.query<LinkRow>(
        `SELECT l.operator_id, l.expires_at FROM operator_links l LEFT JOIN operators o ON o.id = l.operator_id
         WHERE l.hash = $1 AND l.expires_at > now() AND o.disabled_at IS NULL`,
        [hash],
      );
      const [row] = rows;
      if (row === undefined) return null;
      if (row.operator_id === null && !(await isFirstMissing(db))) return null;
      return { operatorId: row.operator_id, expiresAt: row.expires_at };
    },

    /**
     * Uses a link up for an operator's password: sets it, and ends the operator's sessions. Answers the operator's id;
     * null when the link is none, or was used meanwhile. Of two at once, one gets it.
     */
    usePassword: (hash: Buffer, passwordHash: string): Promise<string | null> =>
      db.transaction(async (tx) => {
        const links = await tx.query<{ operator_id: string }>(
          `DELETE FROM operator_links WHERE hash = $1 AND expires_at > now() AND operator_id IS NOT NULL
           RETURNING operator_id`,
          [hash],
        );
        const id = links[0]?.operator_id;
        if (id === undefined) return null;
        const rows = await tx.query(
          `UPDATE operators SET password_hash = $2, version = version + 1 WHERE id = $1 AND disabled_at IS NULL
           RETURNING id`,
          [id, passwordHash],
        );
        if (rows.length === 0) return null;
        await tx.query("DELETE FROM operator_sessions WHERE operator_id = $1", [id]);
        return id;
      }),

    /**
     * Uses the link of the first administrator up: true when `make` may go on, which it does before anybody else can.
     * False when the link is none, was used meanwhile, or somebody has a password by now.
     */
    useFirst: (hash: Buffer, email: string, emailKey: string, name: string, passwordHash: string) =>
      db.transaction(async (tx): Promise<string | null> => {
        await tx.query("SELECT pg_advisory_xact_lock($1)", [FIRST_LOCK]);
        const links = await tx.query(
          "DELETE FROM operator_links WHERE hash = $1 AND expires_at > now() AND operator_id IS NULL RETURNING id",
          [hash],
        );
        if (links.length === 0 || !(await isFirstMissing(tx))) return null;
        // Somebody may have been made without a password under this address, as by `svc operators create`.
        const rows = await tx.query<{ id: string }>(
          `INSERT INTO operators (id, email, email_key, name, password_hash) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (email_key) DO UPDATE SET name = EXCLUDED.name, password_hash = EXCLUDED.password_hash,
             disabled_at = NULL, version = operators.version + 1
           RETURNING id`,
          [newId(), email, emailKey, name, passwordHash],
        );
        const id = rows[0]?.id;
        if (id === undefined) throw new Error("a stored operator was not found");
        await tx.query("DELETE FROM operator_roles WHERE operator_id = $1 AND project_id IS NULL", [id]);
        await tx.query(
          "INSERT INTO operator_roles (operator_id, project_id, role) VALUES ($1, NULL, 'administrator')",
          [id],
        );
        return id;
      }),
  };
}
