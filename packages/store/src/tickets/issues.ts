import type { TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { asConfidence } from "./ticket-record.ts";
import { anyTwoOf } from "./ticket-index.ts";
import { statements } from "../sql.ts";

/** Where triage has sent an issue, for the outcome of its run. */
export interface IssueRoute {
  /** Who works on it from now on. */
  project: ProjectId;
  /** What its ticket's priority becomes; null where it stays. */
  priority: TicketPriority | null;
}

/** Result of an issue. */
export interface IssueRecord {
  /** Who works on it. */
  project: ProjectId;
  projectName: string;
  agentId: string | null;
  confidence: number | null;
  stage: TicketStage;
  /** Why triage has chosen so; null where it has not. */
  why: string | null;
}

/** A ticket that an issue may be about as well. */
export interface OpenTicket {
  ticketId: string;
  subject: string;
  /** The beginning of its first message. */
  text: string;
}

/** A ticket in short. */
export interface TicketBrief {
  ticketId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
}

/** Thrown when the project that an issue is to go to was deleted meanwhile: triage has to choose again. */
export class ProjectGoneError extends Error {
  constructor() {
    super("the project selected by triage was deleted in the meantime");
    this.name = "ProjectGoneError";
  }
}

/** Tickets that an issue is compared with: the newest of the project, and so many with words of it. */
const NEWEST = 200;
const WITH_WORDS = 200;

/** What a ticket is about is said in its beginning. */
const MAX_TEXT_CHARS = 4_000;

const sql = statements("tickets/issues", {
  newest: NEWEST,
  withWords: WITH_WORDS,
  maxTextChars: MAX_TEXT_CHARS,
});

/**
 * Gives the ticket of an issue to the project that triage has chosen, in the transaction of its run's outcome. To be
 * called before the outcome is committed: the project's row is locked first, as a process that deletes a project does,
 * so that no ticket goes to a project that is gone. Throws ProjectGoneError.
 */
export async function lockRoute(tx: Db, { project }: IssueRoute): Promise<void> {
  const found = await sql.lockRoute.one(tx, { project });
  if (found === null) throw new ProjectGoneError();
}

/** Moves the ticket, whose row the outcome of the run has locked in this transaction. */
export const applyRoute = (tx: Db, home: ProjectId, ticketId: string, { project, priority }: IssueRoute) =>
  sql.applyRoute.exec(tx, { home, ticketId, project, priority });

/**
 * Result of an issue that came in to this project; null as long as its ticket is not opened. The reason is that
 * of the newest run that has chosen, and null where the ticket has gone to another project since: it names agents and
 * examples of the one that was chosen. Locks nothing.
 */
export async function find(db: Db, home: ProjectId, ticketId: string): Promise<IssueRecord | null> {
  const row = await sql.find.one<IssueRecord>(db, { home, ticketId });
  return row === null ? null : { ...row, confidence: asConfidence(row.confidence) };
}

/**
 * True when an issue was sent to where it is, by triage or by a person: a further run leaves it there. Reads the few
 * events of its ticket; locks nothing.
 */
export async function isRouted(db: Db, home: ProjectId, ticketId: string): Promise<boolean> {
  const row = await sql.isRouted.one(db, { home, ticketId });
  return row !== null;
}

/** How often the ticket of an issue was resolved, and whether it is now. Reads the few events of its ticket. */
export async function findResolutions(
  db: Db,
  home: ProjectId,
  ticketId: string,
): Promise<{ count: number; isResolved: boolean }> {
  const row = await sql.findResolutions.one<{ count: number; isResolved: boolean }>(db, { home, ticketId });
  return { count: row?.count ?? 0, isResolved: row?.isResolved ?? false };
}

/** True when the message is the first that its chat still has. */
export async function isFirst(db: Db, home: ProjectId, ticketId: string, seq: number): Promise<boolean> {
  const row = await sql.isFirst.one(db, { home, ticketId, seq });
  return row === null;
}

/**
 * Tickets of a project that are not closed and may be about the same as another one: the newest ones, and those that
 * have two of these words, whose index may be a second behind. Both are read by an index, and bounded; locks nothing.
 */
export const listComparable = (db: Db, project: ProjectId, ticketId: string, words: readonly string[]) =>
  sql.listComparable.all<OpenTicket>(db, { project, ticketId, anyTwo: anyTwoOf(project, words) });

/** Those of these tickets that the project works on. */
export const listBriefs = (db: Db, project: ProjectId, ticketIds: readonly string[]) =>
  sql.listBriefs.all<TicketBrief>(db, { project, ticketIds });
