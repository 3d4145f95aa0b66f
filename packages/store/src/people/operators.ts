import type { OperatorRole } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("people/operators");

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
 * Result of a change: `taken` when somebody else has the e-mail address, `last` when nobody would be left who
 * administers everything, `stale` when the operator has another version. `record` is as it is now, null where there is
 * none.
 */
export interface OperatorOutcome {
  result: "changed" | "stale" | "taken" | "last";
  record: OperatorRecord | null;
}

/** Rolls a change back that would leave nobody who administers everything. */
class LastAdministratorError extends Error {
  constructor() {
    super("there would be no administrator of all projects");
    this.name = "LastAdministratorError";
  }
}

/** What an e-mail address is compared by: one person, however it is written. */
export const emailKeyOf = (email: string): string => email.normalize("NFC").toLowerCase();

/** Returns an operator, or null if there is none with this id. */
export const find = (db: Db, id: string) => sql.find.one<OperatorRecord>(db, { id });

async function setRoles(tx: Db, id: string, roles: readonly NewRole[]): Promise<void> {
  await sql.deleteRoles.run(tx, { id });
  await sql.insertRoles.run(tx, {
    id,
    projectId: roles.map(({ project }) => project),
    role: roles.map(({ role }) => role),
  });
}

/** Who administers everything and may sign in; their rows stay locked, in the order of their ids, until the commit. */
async function lockAdministrators(tx: Db): Promise<string[]> {
  const rows = await sql.lockAdministrators.all<{ id: string }>(tx);
  return rows.map(({ id }) => id);
}

/**
 * Changes an operator with `work`, which returns false when it has another version, and takes everything back when
 * the last one who administers everything would be lost by that.
 */
async function change(db: Db, id: string, work: (tx: Db) => Promise<boolean>): Promise<OperatorOutcome> {
  try {
    const isChanged = await db.transaction(async (tx) => {
      const before = await lockAdministrators(tx);
      if (!(await work(tx))) return false;
      const after = await lockAdministrators(tx);
      if (before.length > 0 && after.length === 0) throw new LastAdministratorError();
      return true;
    });
    return { result: isChanged ? "changed" : "stale", record: await find(db, id) };
  } catch (error) {
    if (error instanceof LastAdministratorError) return { result: "last", record: await find(db, id) };
    if (isUniqueViolation(error)) return { result: "taken", record: await find(db, id) };
    throw error;
  }
}

/** The operator with this e-mail address, in any case of its letters, or null. */
export const findByEmail = (db: Db, email: string) =>
  sql.findByEmail.one<OperatorRecord>(db, { emailKey: emailKeyOf(email) });

/** What a password is compared with; null for an unknown address, one without a password, and a disabled one. */
export async function findPassword(db: Db, email: string): Promise<{ id: string; passwordHash: string } | null> {
  const row = await sql.findPassword.one<{ id: string; passwordHash: string }>(db, { emailKey: emailKeyOf(email) });
  return row;
}

/** Creates an operator; null when somebody has this e-mail address. */
export async function insert(
  db: Db,
  operator: OperatorFields & { email: string; name: string },
): Promise<OperatorRecord | null> {
  const id = newId();
  return db.transaction(async (tx) => {
    if (
      !(await sql.insert.any(tx, {
        id,
        email: operator.email,
        emailKey: emailKeyOf(operator.email),
        name: operator.name,
        passwordHash: operator.passwordHash,
      }))
    )
      return null;
    await setRoles(tx, id, operator.roles ?? []);
    return find(tx, id);
  });
}

/** Operators, newest first: those made before the one with the id `before`, and with `q` in name or e-mail address. */
export const listPage = (db: Db, { limit, before, q }: PageQuery) =>
  sql.listPage.all<OperatorRecord>(db, { limit, before, q });

/**
 * Who may sign in and has a role in a project, or in all of them, with these roles: the first `limit` by their names.
 */
export const listOfProject = (
  db: Db,
  project: ProjectId,
  limit: number,
): Promise<{ id: string; name: string; roles: OperatorRole[] }[]> =>
  sql.listOfProject.all<{ id: string; name: string; roles: OperatorRole[] }>(db, { project, limit });

/** Changes what is given, where `versions` has the current version or is null. */
export const update = (
  db: Db,
  id: string,
  fields: OperatorFields,
  versions: readonly number[] | null,
): Promise<OperatorOutcome> =>
  change(db, id, async (tx) => {
    if (
      !(await sql.update.any(tx, {
        id,
        email: fields.email,
        emailKey: fields.email === undefined ? null : emailKeyOf(fields.email),
        name: fields.name,
        setsPassword: fields.passwordHash !== undefined,
        passwordHash: fields.passwordHash,
        disabled: fields.disabled,
        versions,
      }))
    )
      return false;
    if (fields.roles !== undefined) await setRoles(tx, id, fields.roles);
    // Who is shut out, or may have lost the password to somebody, is signed out everywhere for good.
    if (fields.disabled === true || fields.passwordHash !== undefined) {
      await sql.deleteSessions.run(tx, { id });
      await sql.deleteLinks.run(tx, { id });
    }
    return true;
  });

/** Deletes an operator, where `versions` has the current version or is null. */
export const remove = (db: Db, id: string, versions: readonly number[] | null): Promise<OperatorOutcome> =>
  change(db, id, async (tx) => {
    return sql.remove.any(tx, { id, versions });
  });
