import { isAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ISSUE_ORIGIN, TICKET_LIMITS, isIssueChat, profileOf, safeLine } from "@svc/contracts";
import type {
  LastMessage,
  PossibleDuplicateItem,
  TicketDetail,
  TicketEvent,
  TicketItem,
  TicketMessage,
  TicketReply,
  ToolCall,
} from "@svc/contracts";
import { friendlyNameOf } from "@svc/store";
import type {
  EventRecord,
  ListedTicket,
  MessageRecord,
  ModelCallRecord,
  ModelSums,
  ReplyRecord,
  TicketContents,
  TicketRecord,
  ToolCallRecord,
} from "@svc/store";

/** Markdown and HTML markup around the words, in the order of removal. */
const NOISE: readonly (readonly [RegExp, string])[] = [
  [/<!--.*?-->|<\/?[a-z][^<>\n]*>(?<!<[a-z][a-z0-9+.-]*:[^<>]*>)/gis, " "],
  [/^[ \t]*(?:```|~~~)[^\n]*$/gm, " "],
  [/^[ \t]*\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+[ \t]*(?::?-{3,}:?)?[ \t]*$/gm, " "],
  [/^[ \t]*(?:[-*_][ \t]*){3,}$/gm, " "],
  [/^[ \t]*(?:>[ \t]?)+/gm, ""],
  [/^[ \t]*#{1,6}[ \t]+/gm, ""],
  [/^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?/gm, ""],
  [/!?\[([^[\]\n]*)\](?:\([^()\s]*(?:\s+"[^"\n]*")?\)|\[[^[\]\n]*\])/g, "$1"],
  [/<([a-z][a-z0-9+.-]*:[^<>\s]*)>/gi, "$1"],
  [/(?<![\w*])\*{1,3}(?=\S)([^*\n]+?)(?<=\S)\*{1,3}(?![\w*])/g, "$1"],
  [/(?<![\w_])_{1,3}(?=\S)([^_\n]+?)(?<=\S)_{1,3}(?![\w_])/g, "$1"],
  [/~~(?=\S)([^~\n]+?)(?<=\S)~~/g, "$1"],
  [/`+([^`\n]+?)`+/g, "$1"],
  [/(?:^|[ \t]+)\|(?=\s|$)/gm, " "],
  [/\\(?=[!-/:-@[-`{-~])/g, ""],
];

/** Most customers' texts contain none of it. */
const MAY_BE_NOISE = /[*_`~#>|[\]<\\]|^[ \t]*[-+]/m;

/**
 * Returns the beginning of a message as one line of plain text for a list: without Markdown, HTML tags, control and
 * bidirectional characters, at most 140 characters. For texts of some hundred characters.
 */
export function plainSnippet(text: string): string {
  const plain = MAY_BE_NOISE.test(text) ? NOISE.reduce((rest, [noise, by]) => rest.replace(noise, by), text) : text;
  return safeLine(plain, TICKET_LIMITS.lastMessageMaxChars);
}

/** Returns a call as shown to operators of its project. */
export function asToolCall(call: ToolCallRecord, projectName: string): ToolCall {
  const { id, ticketId, messageId, agentId, tool, access, arguments: given, state, result, decidedBy } = call;
  return {
    id,
    project: projectName,
    ticketId,
    messageId,
    agentId,
    tool,
    access,
    arguments: given,
    state,
    result,
    ms: call.durationMs,
    at: call.createdAt.toISOString(),
    decidedBy,
    decidedAt: call.decidedAt?.toISOString() ?? null,
  };
}

/** Returns the stored customer of a ticket; null for a ticket of another project, whose customers are not shown. */
export const ownCustomerOf = (
  { customer, homeProject }: Pick<TicketRecord, "customer" | "homeProject">,
  { project }: Pick<Principal, "project">,
): TicketRecord["customer"] => (homeProject === project ? customer : null);

/**
 * Returns a ticket of the principal's project as shown. The project in which it was created is shown if it is the same
 * one, and to administrators.
 */
export function asTicketItem(ticket: TicketRecord, principal: Principal): TicketItem {
  const tellsHome = ticket.homeProject === principal.project || isAdministrator(principal);
  // Identified by its chat, which other callers cannot choose: `channel_meta` may contain anything.
  const isIssue = isIssueChat(ticket);
  const { name, email } = profileOf(ticket.channelMeta);
  // The name that the stored customer will have, so that a visitor has one name from the start.
  const alias = friendlyNameOf({ ...ticket, project: ticket.homeProject });
  const said = alias === null && name === null && email === null ? null : { id: null, alias, name, email };
  const stored = ownCustomerOf(ticket, principal);
  return {
    id: ticket.id,
    homeProject: tellsHome ? ticket.homeProjectName : null,
    project: principal.projectName,
    channelId: ticket.channelId,
    chatId: ticket.chatId,
    userId: ticket.userId,
    customer: stored ?? (isIssue ? null : said),
    origin: isIssue ? ISSUE_ORIGIN : null,
    subject: ticket.subject,
    status: ticket.status,
    stage: ticket.stage,
    priority: ticket.priority,
    assignee: ticket.assignee,
    snooze: ticket.isSnoozed ? { until: ticket.snoozedUntil?.toISOString() ?? null } : null,
    agentId: ticket.agentId,
    confidence: ticket.confidence,
    language: ticket.language,
    tags: ticket.tags,
    channel_meta: ticket.channelMeta,
    version: ticket.version,
    createdAt: ticket.createdAt.toISOString(),
    updatedAt: ticket.updatedAt.toISOString(),
    firstReplyAt: ticket.firstReplyAt?.toISOString() ?? null,
    resolvedAt: ticket.resolvedAt?.toISOString() ?? null,
    deadline: ticket.deadline && { ...ticket.deadline, dueAt: new Date(ticket.deadline.dueAt).toISOString() },
  };
}

/** Returns a ticket as shown in a list. */
export function asListedTicket(
  { lastMessage, waitingSince, ...ticket }: ListedTicket,
  principal: Principal,
): TicketItem {
  const last: LastMessage | null =
    lastMessage === null
      ? null
      : { ...lastMessage, text: plainSnippet(lastMessage.text), at: lastMessage.at.toISOString() };
  const item = asTicketItem(ticket, principal);
  return { ...item, lastMessage: last, waitingSince: waitingSince?.toISOString() ?? null };
}

/** Returns a message as shown. */
export function asMessage({ timestampMs, createdAt, finishedAt, ...message }: MessageRecord): TicketMessage {
  return {
    ...message,
    timestamp: asTime(timestampMs),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** Channels may send any number as a time; one out of range is replaced by the nearest valid date. */
function asTime(timestampMs: number): string {
  const MAX_MS = 8_640_000_000_000_000;
  return new Date(Math.max(0, Math.min(MAX_MS, timestampMs))).toISOString();
}

/** Returns a reply as shown. */
export function asReply({ createdAt, deliveredAt, content, ...reply }: ReplyRecord): TicketReply {
  return {
    ...reply,
    createdAt: createdAt.toISOString(),
    deliveredAt: deliveredAt?.toISOString() ?? null,
    ...content,
  };
}

/**
 * Returns an event as shown. If another project worked on the ticket at that time, its reasons, notes, agents and
 * passages belong to that project, and only administrators see them.
 */
export function asEvent({ at, project, moves, data, ...event }: EventRecord, principal: Principal): TicketEvent {
  const shown = { ...event, at: at.toISOString(), moves, data };
  if (project === principal.project || isAdministrator(principal)) return shown;
  return { ...shown, moves: moves.map((move) => ({ ...move, why: "" })), data: {} };
}

/** Additional data of a ticket. */
interface TicketExtras {
  usage: { sums: ModelSums; calls: ModelCallRecord[] };
  toolCalls: ToolCall[];
  possibleDuplicates: PossibleDuplicateItem[];
}

/** Returns a ticket with its contents as shown. */
export function asTicketDetail(
  ticket: TicketRecord,
  { messages, replies, events, draft, more }: TicketContents,
  { usage: { sums, calls }, toolCalls, possibleDuplicates }: TicketExtras,
  principal: Principal,
): TicketDetail {
  return {
    ...asTicketItem(ticket, principal),
    messages: messages.map(asMessage),
    replies: replies.map(asReply),
    events: events.map((event) => asEvent(event, principal)),
    draft: draft === null ? null : { ...draft, createdAt: draft.createdAt.toISOString() },
    modelUsage: sums,
    modelCalls: calls.map(({ at, ...call }) => ({ at: at.toISOString(), ...call })),
    possibleDuplicates,
    toolCalls,
    more,
  };
}
