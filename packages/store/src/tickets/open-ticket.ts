// A ticket, and SQL that two statements share: one opens tickets by itself, the other one with the claim of a message.
import type { ChannelId, TicketStage, TicketStatus } from "@svc/contracts";
import type { ProjectId } from "../ids.ts";

/** A ticket as the pipeline works on it. */
export interface Ticket {
  id: string;
  homeProject: ProjectId;
  /** Who works on it. */
  project: ProjectId;
  channelId: ChannelId;
  chatId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  agentId: string | null;
  /** ISO 639-1; null as long as no message has said so. */
  language: string | null;
  version: number;
}

const SUBJECT_CHARS = 120;

/** Characters that `String.prototype.trim` removes (ECMAScript, WhiteSpace and LineTerminator), as escapes of PostgreSQL. */
const WHITE_SPACE = `\\t\\n\\x0b\\f\\r ${escapesOf(
  "00a0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200a 2028 2029 202f 205f 3000 feff",
)}`;

/** Characters that change the direction of surrounding text (Unicode UAX #9), as escapes of PostgreSQL. */
const BIDI_CONTROLS = escapesOf("202a 202b 202c 202d 202e 2066 2067 2068 2069");

function escapesOf(codes: string): string {
  return codes
    .split(" ")
    .map((code) => `\\u${code}`)
    .join("");
}

/** SQL of a ticket's subject: the first line of a text, short enough for a list; never cut inside a character. */
export const subjectOf = (text: string): string =>
  `left(split_part(translate(btrim(translate(${text}, E'${BIDI_CONTROLS}', ''), E'${WHITE_SPACE}'), E'\\r', E'\\n'), E'\\n', 1), ${SUBJECT_CHARS})`;

/**
 * SQL of what changes in a ticket `t` that takes in a message: the newest meta wins, and a resolved ticket is open again, as
 * is a snoozed one.
 */
export const TAKE_IN = `user_id = coalesce(excluded.user_id, t.user_id),
  channel_meta = t.channel_meta || excluded.channel_meta,
  status = CASE WHEN t.status = 'resolved' THEN 'open' ELSE t.status END,
  resolved_at = CASE WHEN t.status = 'resolved' THEN NULL ELSE t.resolved_at END, snoozed_until = NULL,
  version = t.version + 1, updated_at = now()`;
