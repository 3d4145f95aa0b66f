import { isAdministrator, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError, encodeTicketCursor, ticketChangeSchema, ticketListSchema } from "@svc/contracts";
import type {
  FieldFault,
  ListPage,
  PossibleDuplicateItem,
  TicketChange,
  TicketCount,
  TicketDetail,
  TicketEvent,
  TicketItem,
  TicketListInput,
  TicketListQuery,
  TicketMessage,
  TicketReply,
  ToolCall,
} from "@svc/contracts";
import type {
  EventRecord,
  FileContent,
  MessageRecord,
  ModelCallRecord,
  ModelSums,
  ReplyRecord,
  Store,
  TicketContents,
  TicketRecord,
  WordQuery,
} from "@svc/store";
import { searchWords } from "@svc/text";
import { audited } from "./audited.ts";
import { checkInput, invalidInput } from "./check-input.ts";
import { isUuid } from "./is-uuid.ts";
import type { ExpectedVersions } from "./kbs.ts";
import { staleVersion } from "./stale-version.ts";
import { asToolCall } from "./as-tool-call.ts";

const notFound = () => new ServiceError("not_found", "There is no such ticket in this project.");

/**
 * A ticket of the principal's project as it is shown. Where it came in is told if that is the same project, or to an
 * administrator.
 */
export function asTicketItem(ticket: TicketRecord, principal: Principal): TicketItem {
  const tellsHome = ticket.homeProject === principal.project || isAdministrator(principal);
  return {
    id: ticket.id,
    homeProject: tellsHome ? ticket.homeProjectName : null,
    project: principal.projectName,
    channelId: ticket.channelId,
    chatId: ticket.chatId,
    userId: ticket.userId,
    subject: ticket.subject,
    status: ticket.status,
    stage: ticket.stage,
    priority: ticket.priority,
    assignee: ticket.assignee,
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
  };
}

function asMessage({ timestampMs, createdAt, finishedAt, ...message }: MessageRecord): TicketMessage {
  return {
    ...message,
    timestamp: asTime(timestampMs),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** A channel may say any time; one that no date can hold is shown as the nearest one. */
function asTime(timestampMs: number): string {
  const MAX_MS = 8_640_000_000_000_000;
  return new Date(Math.max(0, Math.min(MAX_MS, timestampMs))).toISOString();
}

function asReply({ createdAt, deliveredAt, content, ...reply }: ReplyRecord): TicketReply {
  return {
    ...reply,
    createdAt: createdAt.toISOString(),
    deliveredAt: deliveredAt?.toISOString() ?? null,
    ...content,
  };
}

/**
 * An event. Of one from the time in which another project worked on the ticket only an administrator is told more than
 * that it was: reasons, notes, agents and passages are that project's own.
 */
function asEvent({ at, project, moves, data, ...event }: EventRecord, principal: Principal): TicketEvent {
  const shown = { ...event, at: at.toISOString(), moves, data };
  if (project === principal.project || isAdministrator(principal)) return shown;
  return { ...shown, moves: moves.map((move) => ({ ...move, why: "" })), data: {} };
}

function asDetail(
  ticket: TicketRecord,
  { messages, replies, events, draft, more }: TicketContents,
  { sums, calls }: { sums: ModelSums; calls: ModelCallRecord[] },
  toolCalls: ToolCall[],
  possibleDuplicates: PossibleDuplicateItem[],
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

/** What the newest run of an issue has found to be likely the same, as far as the project still works on it. */
async function readDuplicates(
  store: Store,
  { project }: Principal,
  events: readonly EventRecord[],
): Promise<PossibleDuplicateItem[]> {
  const noted = events.findLast((event) => "possibleDuplicates" in event.data && event.project === project);
  // Written by the pipeline alone.
  const found = (noted?.data["possibleDuplicates"] ?? []) as { ticketId: string; similarity: number }[];
  if (found.length === 0) return [];
  const briefs = await store.issues.listBriefs(
    project,
    found.map(({ ticketId }) => ticketId),
  );
  return found.flatMap(({ ticketId, similarity }) => {
    const brief = briefs.find((one) => one.ticketId === ticketId);
    return brief === undefined ? [] : [{ ...brief, similarity }];
  });
}

/** The words that a search asks for; the last one may be the beginning of a word. Null where it has none. */
function wordQueryOf(q: string): WordQuery | null {
  const words = searchWords(q);
  const beginning = words.pop();
  return beginning === undefined ? null : { words, beginning };
}

/** The ticket with this id, in the principal's project, opened or only accepted. Throws not_found. */
export async function readTicket(store: Store, { project }: Principal, id: string): Promise<TicketRecord> {
  const ticket = isUuid(id) ? await store.ticketDetails.find(project, id) : null;
  if (ticket === null) throw notFound();
  return ticket;
}

/**
 * A page of the tickets that the principal's project works on, by filters, words and order; a search without a word finds
 * nothing. The submitted issues of all projects are listed for administrators. Scope tickets:read. Throws
 * invalid_request with every fault of the input, and insufficient_scope where another one asks for all projects.
 */
export async function listTickets(
  { store }: { store: Store },
  principal: Principal,
  input: TicketListInput,
): Promise<ListPage<TicketItem>> {
  requireScope(principal, "tickets:read");
  const { q, allProjects, ...query } = checkInput(ticketListSchema(input.sort), input, "The query");
  if (allProjects === true) return listInbox(store, principal, { q, ...query });
  const words = q === undefined ? null : wordQueryOf(q);
  if (q !== undefined && words === null) return { items: [], nextCursor: null };
  const { tickets, next } = await store.ticketList.listPage(principal.project, { ...query, words });
  return {
    items: tickets.map((ticket) => asTicketItem(ticket, principal)),
    nextCursor: next === null ? null : encodeTicketCursor(query.sort, next),
  };
}

/** Tickets that are counted at most. */
const COUNT_MAX = 1_000;

/**
 * How many tickets of the principal's project meet the filters, up to 1000. Scope tickets:read. Throws invalid_request
 * with every fault of the input, and for words and the Inbox of all projects, which are not counted.
 */
export async function countTickets(
  { store }: { store: Store },
  principal: Principal,
  input: Omit<TicketListInput, "limit" | "cursor" | "sort">,
): Promise<TicketCount> {
  requireScope(principal, "tickets:read");
  const uncounted = (["q", "allProjects"] as const).filter((name) => input[name] !== undefined);
  const faults = uncounted.map((name) => ({ pointer: `/${name}`, code: "invalid", detail: "is not counted" }));
  const { q: _q, allProjects: _all, ...query } = checkInput(ticketListSchema(undefined), input, "The query", faults);
  const count = await store.ticketList.count(principal.project, { ...query, words: null }, COUNT_MAX);
  return { count, isMore: count >= COUNT_MAX };
}

/** What belongs to one project, and is not looked for in all of them. */
const OF_ONE_PROJECT = ["q", "tag", "chatId"] as const;

/** A page of the submitted issues that any project works on, for administrators. */
async function listInbox(
  store: Store,
  principal: Principal,
  query: Omit<TicketListQuery, "allProjects">,
): Promise<ListPage<TicketItem>> {
  requireScope(principal, "admin:*");
  const faults: FieldFault[] = OF_ONE_PROJECT.filter((name) => query[name] !== undefined).map((name) => ({
    pointer: `/${name}`,
    code: "invalid",
    detail: "belongs to one project: leave it out, or allProjects",
  }));
  if (query.origin === undefined) {
    faults.push({ pointer: "/origin", code: "required", detail: "all projects together are listed by origin only" });
  }
  if (faults.length > 0) throw invalidInput(faults, "The query");
  const { q: _, ...rest } = query;
  const { tickets, next } = await store.ticketList.listPage(null, { ...rest, words: null });
  const names = new Map((await store.projects.list()).map(({ id, name }) => [id, name]));
  return {
    items: tickets.flatMap((ticket) => {
      const projectName = names.get(ticket.project);
      // What a project has that is being deleted goes back to where it came in, or with it.
      return projectName === undefined
        ? []
        : [asTicketItem(ticket, { ...principal, project: ticket.project, projectName })];
    }),
    nextCursor: next === null ? null : encodeTicketCursor(query.sort, next),
  };
}

/**
 * The ticket with this id, in the principal's project, with what was said and done. One that was accepted and is not
 * opened yet has the stage `received` and version 0. Scope tickets:read. Throws not_found.
 */
export async function getTicket({ store }: { store: Store }, principal: Principal, id: string): Promise<TicketDetail> {
  requireScope(principal, "tickets:read");
  const found = isUuid(id) ? await store.ticketDetails.read(principal.project, id) : null;
  if (found === null) throw notFound();
  const { ticket, contents } = found;
  const [usage, toolCalls] = await Promise.all([
    // What other projects asked of models for this ticket is theirs.
    store.modelCalls.readTicket(isAdministrator(principal) ? null : principal.project, ticket.id),
    // What other projects' agents have called is shown where they have the ticket.
    store.toolCalls.listOfTicket(principal.project, ticket.id),
  ]);
  const calls = toolCalls.map((call) => asToolCall(call, principal.projectName));
  const duplicates = await readDuplicates(store, principal, contents.events);
  return asDetail(ticket, contents, usage, calls, duplicates, principal);
}

/**
 * A file of a conversation: one that its visitor sent, or one of a reply. Scope tickets:read. Throws not_found.
 */
export async function getTicketFile(
  { store }: { store: Store },
  principal: Principal,
  id: string,
  fileId: string,
): Promise<FileContent> {
  requireScope(principal, "tickets:read");
  const ticket = await readTicket(store, principal, id);
  const file = isUuid(fileId) ? await store.widgetFiles.find(ticket.homeProject, ticket.id, fileId) : null;
  if (file === null) throw new ServiceError("not_found", "There is no such file in this ticket.");
  return file;
}

/**
 * Changes what the input names, if the ticket has one of the expected versions. Scope tickets:write. Throws not_found,
 * also while the ticket is not opened yet, version_conflict with the present `ETag`, and invalid_request with every fault
 * of the input.
 */
export const updateTicket = audited(
  "tickets.update",
  async function updateTicket(
    { store }: { store: Store },
    principal: Principal,
    id: string,
    input: TicketChange,
    versions: ExpectedVersions = null,
  ): Promise<TicketItem> {
    requireScope(principal, "tickets:write");
    const change = checkInput(ticketChangeSchema, input, "The ticket");
    const { project, actor } = principal;
    if (!isUuid(id)) throw notFound();
    const changed = await store.ticketDetails.update(project, id, change, { versions, actor });
    if (changed !== null) return asTicketItem(changed, principal);
    const present = await store.ticketDetails.findOpened(project, id);
    throw present === null ? notFound() : staleVersion("The ticket", present.version);
  },
);
