import type { NotificationSettings, OperatorRole, SavedView } from "@svc/contracts";
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
  /** Name of a project, or `*` for all. */
  roles: { project: string; role: OperatorRole }[];
  hasPassword: boolean;
  /** True if tickets can be assigned to this operator in turn. */
  onDuty: boolean;
  createdAt: Date;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  /** As stored: `notificationSettingsSchema` adds the defaults. */
  notifications: unknown;
  version: number;
}

/** A role in one project, or in all of them if null. */
export interface NewRole {
  project: ProjectId | null;
  role: OperatorRole;
}

/** Given fields of an operator; omitted ones are unchanged. */
export interface OperatorFields {
  email?: string | undefined;
  name?: string | undefined;
  roles?: readonly NewRole[] | undefined;
  /** A hash of `hashPassword`; null removes the password. */
  passwordHash?: string | null | undefined;
  disabled?: boolean | undefined;
  notifications?: NotificationSettings | undefined;
  onDuty?: boolean | undefined;
}

/**
 * Result of a change: `taken` if another operator has the email address, `last` if no administrator of everything would
 * remain, `stale` if the operator has another version. `record` is its current state, null if there is none.
 */
export interface OperatorOutcome {
  result: "changed" | "stale" | "taken" | "last";
  record: OperatorRecord | null;
}

/** Rolls back a change that would leave no administrator of everything. */
class LastAdministratorError extends Error {
  constructor() {
    super("there would be no administrator of all projects");
    this.name = "LastAdministratorError";
  }
}

/** Returns the form of an email address that is compared: one person, however it is written. */
export const emailKeyOf = (email: string): string => email.normalize("NFC").toLowerCase();

/** Returns an operator, or null if there is none with this id. */
export const find = (db: Db, id: string) => sql.find.one<OperatorRecord>(db, { id });

/** The public profile of an operator; empty texts for unset fields. */
export interface PublicProfile {
  /** Text that the console adds to the operator's replies, as Markdown. */
  signature: string;
  publicName: string;
  /** Path of a picture on the site of the widget. */
  picture: string;
}

/** Returns the public profile of an operator, which customers see. */
export const findProfile = async (db: Db, id: string): Promise<PublicProfile> =>
  (await sql.findProfile.one<PublicProfile>(db, { id })) ?? { signature: "", publicName: "", picture: "" };

/** Updates the given fields of an operator's public profile. */
export const setProfile = (db: Db, id: string, profile: Partial<PublicProfile>) =>
  sql.setProfile.exec(db, { id, signature: null, publicName: null, picture: null, ...profile });

async function setRoles(tx: Db, id: string, roles: readonly NewRole[]): Promise<void> {
  await sql.deleteRoles.run(tx, { id });
  await sql.insertRoles.run(tx, { id, ...rolesOf(roles) });
}

const rolesOf = (roles: readonly NewRole[] | undefined) => ({
  projects: roles?.map(({ project }) => project),
  roles: roles?.map(({ role }) => role),
});

/**
 * Locks the operators who are administrators of everything and may sign in, in the order of their ids, until the
 * commit.
 */
async function lockAdministrators(tx: Db): Promise<string[]> {
  const rows = await sql.lockAdministrators.all(tx);
  return rows.map(({ id }) => id);
}

/**
 * Changes an operator with `work`, which returns false if it has another version, and rolls back if the last
 * administrator of everything would be lost.
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

/** Returns the operator with this email address, ignoring case, or null. */
export const findByEmail = (db: Db, email: string) =>
  sql.findByEmail.one<OperatorRecord>(db, { emailKey: emailKeyOf(email) });

/**
 * Returns the password hash for a sign-in; null for an unknown address, an operator without a password, and a disabled
 * one.
 */
export const findPassword = (db: Db, email: string): Promise<{ id: string; passwordHash: string } | null> =>
  sql.findPassword.one(db, { emailKey: emailKeyOf(email) });

/** Creates an operator; null if another one has this email address. */
export async function insert(
  db: Db,
  operator: OperatorFields & { email: string; name: string },
): Promise<OperatorRecord | null> {
  const id = newId();
  return db.transaction(async (tx) => {
    const { email, name, passwordHash } = operator;
    if (!(await sql.insert.any(tx, { id, email, emailKey: emailKeyOf(email), name, passwordHash }))) return null;
    await setRoles(tx, id, operator.roles ?? []);
    return find(tx, id);
  });
}

/**
 * Returns operators, newest first: those created before the one with id `before`, and with `q` in name or e-mail
 * address.
 */
export const listPage = (db: Db, { limit, before, q }: PageQuery) =>
  sql.listPage.all<OperatorRecord>(db, { limit, before, q });

/**
 * Returns operators who may sign in and have one of these roles in a project, or in all of them: the first `limit` by
 * name.
 */
export const listOfProject = (
  db: Db,
  project: ProjectId,
  limit: number,
): Promise<{ id: string; name: string; roles: OperatorRole[] }[]> =>
  sql.listOfProject.all<{ id: string; name: string; roles: OperatorRole[] }>(db, { project, limit });

/** Changes the given fields, if `versions` contains the current version or is null. */
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
        notifications: fields.notifications === undefined ? null : JSON.stringify(fields.notifications),
        onDuty: fields.onDuty,
        ...rolesOf(fields.roles),
        versions,
      }))
    )
      return false;
    if (fields.roles !== undefined) await setRoles(tx, id, fields.roles);
    // Operators who are disabled, or whose password may have been stolen, are signed out everywhere.
    if (fields.disabled === true || fields.passwordHash !== undefined) {
      await sql.deleteSessions.run(tx, { id });
      await sql.deleteLinks.run(tx, { id });
    }
    return true;
  });

/** Puts an operator on duty, or takes them off. */
export const setDuty = (db: Db, id: string, onDuty: boolean) => sql.setDuty.exec(db, { id, onDuty });

/** Deletes an operator, if `versions` contains the current version or is null. */
export const remove = (db: Db, id: string, versions: readonly number[] | null): Promise<OperatorOutcome> =>
  change(db, id, async (tx) => {
    return sql.remove.any(tx, { id, versions });
  });

/** An operator who is viewing a ticket. */
export interface ViewerRecord {
  operatorId: string;
  name: string;
  isTyping: boolean;
}

/** A tab of a browser in one session. */
export interface PresenceTab {
  sessionId: string;
  tab: string;
}

/** A viewer without a heartbeat for this time has left. */
export const VIEWER_TIMEOUT_SECONDS = 45;

/** Records what a tab shows; returns the ticket that it showed before, if that is another one. */
async function putPresence(
  db: Db,
  project: ProjectId,
  { sessionId, tab }: PresenceTab,
  shown: { operatorId: string; ticketId: string; isTyping: boolean },
): Promise<string | null> {
  const row = await viewSql.putPresence.one<{ before: string | null }>(db, { ...shown, sessionId, tab, project });
  const before = row?.before ?? null;
  return before === shown.ticketId ? null : before;
}

/** Records that a tab no longer shows a ticket; returns the one that it showed, or null. */
async function removePresence(db: Db, { sessionId, tab }: PresenceTab): Promise<string | null> {
  const row = await viewSql.removePresence.one(db, { sessionId, tab });
  return row?.ticketId ?? null;
}

/** Removes viewers that disappeared without notice, and returns the tickets that they viewed. */
async function sweepPresence(db: Db): Promise<string[]> {
  const rows = await viewSql.sweepPresence.all<{ ticketId: string }>(db, { goneSeconds: VIEWER_TIMEOUT_SECONDS });
  return [...new Set(rows.map(({ ticketId }) => ticketId))];
}

/**
 * Returns the viewers of each of these tickets, with the project in which they view it; of several tabs, one in which
 * the operator types.
 */
const listViewers = (db: Db, ticketIds: readonly string[]) =>
  viewSql.listViewers.all<ViewerRecord & { ticketId: string; project: string }>(db, {
    ticketIds,
    goneSeconds: VIEWER_TIMEOUT_SECONDS,
  });

const viewSql = statements("people/operator-views");

/** Returns an operator's views, in the order in which they were saved, without those of deleted projects. */
const listViews = (db: Db, operatorId: string) => viewSql.listViews.all<SavedView>(db, { operatorId });

/**
 * Saves a view, replacing the one of the same name; `project` is null for all projects. Returns false if the operator
 * already has `maxCount` others. Locks the operator's row, so that concurrent calls cannot exceed the limit.
 */
function putView(
  db: Db,
  operatorId: string,
  { name, view, filters }: Omit<SavedView, "project">,
  { project, maxCount }: { project: ProjectId | null; maxCount: number },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await viewSql.putView.run(tx, { operatorId });
    return viewSql.insertView.any(tx, {
      operatorId,
      name,
      project,
      view,
      filters: JSON.stringify(filters),
      maxCount,
    });
  });
}

/** Deletes a view; false if the operator has none of this name. */
const removeView = (db: Db, operatorId: string, name: string) => viewSql.removeView.any(db, { operatorId, name });

/** Functions of `store.operatorPresence`. */
export const operatorPresence = { put: putPresence, remove: removePresence, sweep: sweepPresence, list: listViewers };

/** Functions of `store.operatorViews`. */
export const operatorViews = { list: listViews, put: putView, remove: removeView };
