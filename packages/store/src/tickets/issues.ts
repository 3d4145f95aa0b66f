import type { TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { anyTwoOf } from "./ticket-index.ts";
import { asConfidence } from "./ticket-record.ts";

/** Routing of an issue by triage, for the result of its run. */
export interface IssueRoute {
  /** The project that works on it from now on. */
  project: ProjectId;
  /** New priority of its ticket; null if it is unchanged. */
  priority: TicketPriority | null;
}

/** Result of an issue. */
export interface IssueRecord {
  /** The project that works on it. */
  project: ProjectId;
  projectName: string;
  agentId: string | null;
  confidence: number | null;
  stage: TicketStage;
  /** Reason of triage; null if it has not chosen. */
  why: string | null;
}

/** A ticket that an issue may duplicate. */
export interface OpenTicket {
  ticketId: string;
  subject: string;
  /** Beginning of its first message. */
  text: string;
}

/** Summary of a ticket. */
export interface TicketBrief {
  ticketId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
}

/** Thrown if the target project of an issue was deleted in the meantime: triage has to choose again. */
export class ProjectNotFoundError extends Error {
  constructor() {
    super("the project selected by triage was deleted in the meantime");
    this.name = "ProjectNotFoundError";
  }
}

/** Tickets that an issue is compared with: the newest of the project, and those that share words with it. */
const NEWEST = 200;
const WITH_WORDS = 200;

/** Only the beginning of a ticket is used, which states its subject. */
const MAX_ISSUE_CHARS = 4_000;

const sql = statements("tickets/issues", {
  newest: NEWEST,
  withWords: WITH_WORDS,
  maxTextChars: MAX_ISSUE_CHARS,
});

/**
 * Locks the project that triage has chosen for an issue, in the transaction that finishes the run. Call it before the
 * result is written: the project's row is locked first, as in a deletion of the project, so that no ticket goes to a
 * deleted project. Throws ProjectNotFoundError.
 */
export async function lockRoute(tx: Db, { project }: IssueRoute): Promise<void> {
  const found = await sql.lockRoute.one(tx, { project });
  if (found === null) throw new ProjectNotFoundError();
}

/** Moves the ticket, whose row this transaction has locked, to a project. */
export const applyRoute = (tx: Db, home: ProjectId, ticketId: string, { project, priority }: IssueRoute) =>
  sql.applyRoute.exec(tx, { home, ticketId, project, priority });

/**
 * Returns the result of an issue that came in to this project; null until its ticket has been opened. The reason is
 * that of the newest run that chose a project, and null if the ticket has moved to another project since: it names
 * agents and examples of the chosen one. Locks nothing.
 */
async function findIssue(db: Db, home: ProjectId, ticketId: string): Promise<IssueRecord | null> {
  const row = await sql.find.one<IssueRecord>(db, { home, ticketId });
  return row === null ? null : { ...row, confidence: asConfidence(row.confidence) };
}

/**
 * Returns true if triage or a person has already routed an issue: a further run does not move it. Reads the few events
 * of its ticket; locks nothing.
 */
async function isRouted(db: Db, home: ProjectId, ticketId: string): Promise<boolean> {
  const row = await sql.isRouted.one(db, { home, ticketId });
  return row !== null;
}

/**
 * Returns how many times the ticket of an issue was resolved, and whether it is now. Reads the few events of its
 * ticket.
 */
async function findResolutions(
  db: Db,
  home: ProjectId,
  ticketId: string,
): Promise<{ count: number; isResolved: boolean }> {
  const row = await sql.findResolutions.one(db, { home, ticketId });
  return { count: row?.count ?? 0, isResolved: row?.isResolved ?? false };
}

/** Returns true if the message is the first remaining one of its chat. */
async function isFirst(db: Db, home: ProjectId, ticketId: string, seq: number): Promise<boolean> {
  const row = await sql.isFirst.one(db, { home, ticketId, seq });
  return row === null;
}

/**
 * Returns open tickets of a project that may duplicate another one: the newest ones, and those with two of these words,
 * whose index may lag by a second. Both are read by an index, and limited; locks nothing.
 */
const listComparable = (db: Db, project: ProjectId, ticketId: string, words: readonly string[]) =>
  sql.listComparable.all<OpenTicket>(db, { project, ticketId, anyTwo: anyTwoOf(project, words) });

/** Returns those of these tickets that the project works on. */
const listBriefs = (db: Db, project: ProjectId, ticketIds: readonly string[]) =>
  sql.listBriefs.all<TicketBrief>(db, { project, ticketIds });

/** Functions of `store.issues`. */
export const issues = { find: findIssue, isRouted, findResolutions, isFirst, listComparable, listBriefs };
