import type { CannedReply, CannedReplyActions, NotificationSettings, OperatorRole, SavedView } from "@svc/contracts";
import { isUniqueViolation, updateVersioned } from "../db.ts";
import type { Db, PageQuery, UpdateResult, VersionedId } from "../db.ts";
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
  /** True if tickets can be assigned to this operator in turn. */
  onDuty: boolean;
  createdAt: Date;
  lastSeenAt: Date | null;
  disabledAt: Date | null;
  /** As stored: `notificationSettingsSchema` adds the defaults. */
  notifications: unknown;
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
  notifications?: NotificationSettings | undefined;
  onDuty?: boolean | undefined;
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

/** What customers see of an operator; empty texts for what is not set. */
export interface PublicProfile {
  /** What the console adds to the operator's replies, as Markdown. */
  signature: string;
  publicName: string;
  /** Path of a picture on the site of the widget. */
  picture: string;
}

/** What customers see of an operator. */
export const findProfile = async (db: Db, id: string): Promise<PublicProfile> =>
  (await sql.findProfile.one<PublicProfile>(db, { id })) ?? { signature: "", publicName: "", picture: "" };

/** Sets what is given of what customers see of an operator. */
export const setProfile = (db: Db, id: string, profile: Partial<PublicProfile>) =>
  sql.setProfile.exec(db, { id, signature: null, publicName: null, picture: null, ...profile });

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
        notifications: fields.notifications === undefined ? null : JSON.stringify(fields.notifications),
        onDuty: fields.onDuty,
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

/** Puts an operator on duty, or takes them off. */
export const setDuty = (db: Db, id: string, onDuty: boolean) => sql.setDuty.exec(db, { id, onDuty });

/** Deletes an operator, where `versions` has the current version or is null. */
export const remove = (db: Db, id: string, versions: readonly number[] | null): Promise<OperatorOutcome> =>
  change(db, id, async (tx) => {
    return sql.remove.any(tx, { id, versions });
  });

/** Somebody who looks at a ticket. */
export interface ViewerRecord {
  operatorId: string;
  name: string;
  isTyping: boolean;
}

/** Where somebody is: one tab of a browser in one session. */
export interface PresenceTab {
  sessionId: string;
  tab: string;
}

/** A viewer that was silent for this long has left. */
export const GONE_SECONDS = 45;

/** Notes what a tab shows; returns the ticket that it has shown before, where that is another one. */
async function putPresence(
  db: Db,
  project: ProjectId,
  { sessionId, tab }: PresenceTab,
  shown: { operatorId: string; ticketId: string; isTyping: boolean },
): Promise<string | null> {
  const row = await viewSql.putPresence.one<{ before: string | null }>(db, {
    sessionId,
    tab,
    operatorId: shown.operatorId,
    project,
    ticketId: shown.ticketId,
    isTyping: shown.isTyping,
  });
  const before = row?.before ?? null;
  return before === shown.ticketId ? null : before;
}

/** Notes that a tab shows no ticket any more; returns the one that it has shown, or null. */
async function removePresence(db: Db, { sessionId, tab }: PresenceTab): Promise<string | null> {
  const row = await viewSql.removePresence.one<{ ticketId: string }>(db, { sessionId, tab });
  return row?.ticketId ?? null;
}

/** Removes viewers that disappeared without notice, and returns the tickets that they have looked at. */
async function sweepPresence(db: Db): Promise<string[]> {
  const rows = await viewSql.sweepPresence.all<{ ticketId: string }>(db, { goneSeconds: GONE_SECONDS });
  return [...new Set(rows.map(({ ticketId }) => ticketId))];
}

/** Who looks at each of these tickets, with the project that they do it in; of several tabs, one that types. */
const listViewers = (db: Db, ticketIds: readonly string[]) =>
  viewSql.listViewers.all<ViewerRecord & { ticketId: string; project: string }>(db, {
    ticketIds,
    goneSeconds: GONE_SECONDS,
  });

const viewSql = statements("people/operator-views");

/** An operator's views, in the order in which they were saved; those of deleted projects are left out. */
const listViews = (db: Db, operatorId: string) => viewSql.listViews.all<SavedView>(db, { operatorId });

/**
 * Keeps a view in the place of the one of the same name; `project` null for one of all projects. False where the
 * operator has `maxCount` others already. Locks the operator's row, so that two calls at once cannot both be the last.
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

/** Deletes a view; false where the operator has none of this name. */
const removeView = (db: Db, operatorId: string, name: string) => viewSql.removeView.any(db, { operatorId, name });

const cannedReplySql = statements("tickets/canned-replies");

/** A text that operators send again and again. */
export interface CannedReplyRecord {
  id: string;
  name: string;
  /** Markdown with variables. */
  text: string;
  folder: string | null;
  tags: string[];
  /** What changes on a ticket with it. */
  actions: CannedReply["actions"];
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
  actions?: CannedReplyActions | undefined;
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

/** Returns a canned reply, or null if the project has none with this id. */
const findCannedReply = (db: Db, project: ProjectId, id: string) =>
  cannedReplySql.find.one<CannedReplyRecord>(db, { project, id });

/** Creates a canned reply; null when the project has one of this name. */
async function insertCannedReply(
  db: Db,
  project: ProjectId,
  fields: CannedReplyFields & { name: string; text: string },
): Promise<CannedReplyRecord | null> {
  return cannedReplySql.insert.one<CannedReplyRecord>(db, {
    id: newId(),
    project,
    name: fields.name,
    text: fields.text,
    folder: fields.folder,
    tags: fields.tags ?? [],
    actions: JSON.stringify(fields.actions ?? {}),
  });
}

/**
 * Canned replies, newest first: those made before the one with the id `before`, with `q` in name or text, in one
 * folder and with one tag.
 */
const listCannedReplies = (
  db: Db,
  project: ProjectId,
  { limit, before, q, folder, tag }: PageQuery & { folder?: string | undefined; tag?: string | undefined },
) => cannedReplySql.listPage.all<CannedReplyRecord>(db, { project, limit, before, q, folder, tag });

/**
 * Changes what is given, where `versions` has the current version or is null. `record` is as it is now; null when the
 * project has none of this id.
 */
async function updateCannedReply(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  fields: CannedReplyFields,
): Promise<{ result: UpdateResult; record: CannedReplyRecord | null }> {
  const result = await updateVersioned(() =>
    cannedReplySql.update.run(db, {
      project,
      id,
      name: fields.name,
      text: fields.text,
      setsFolder: fields.folder !== undefined,
      folder: fields.folder,
      tags: fields.tags,
      actions: fields.actions === undefined ? null : JSON.stringify(fields.actions),
      versions,
    }),
  );
  return { result, record: await findCannedReply(db, project, id) };
}

/** Deletes a canned reply, where `versions` has its present version or is null; false when it has another one. */
const removeCannedReply = (db: Db, project: ProjectId, { id, versions }: VersionedId) =>
  cannedReplySql.remove.any(db, { project, id, versions });

/** What variables stand for in a conversation that this project works on; null when there is none of this id. */
const findTicketFacts = (db: Db, project: ProjectId, ticketId: string) =>
  cannedReplySql.findTicketFacts.one<TicketFacts>(db, { project, ticketId });

/** Functions of `store.operatorPresence`. */
export const operatorPresence = { put: putPresence, remove: removePresence, sweep: sweepPresence, list: listViewers };

/** Functions of `store.operatorViews`. */
export const operatorViews = { list: listViews, put: putView, remove: removeView };

/** Functions of `store.cannedReplies`. */
export const cannedReplies = {
  find: findCannedReply,
  insert: insertCannedReply,
  listPage: listCannedReplies,
  update: updateCannedReply,
  remove: removeCannedReply,
  findTicketFacts,
};
