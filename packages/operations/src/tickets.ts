import { isAdministrator, requireScope, scopesOfRoles } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  ISSUE_ORIGIN,
  ServiceError,
  checkInput,
  customerOf,
  encodeTicketCursor,
  grantsScope,
  isIssueChat,
  ticketChangeSchema,
  ticketListSchema,
} from "@svc/contracts";
import type {
  FieldFault,
  LastMessage,
  ListPage,
  PossibleDuplicateItem,
  TicketCount,
  TicketDetail,
  TicketEvent,
  TicketItem,
  TicketListInput,
  TicketMessage,
  TicketReply,
  ToolCall,
} from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import type {
  EventRecord,
  ListedTicket,
  MessageRecord,
  ModelCallRecord,
  ModelSums,
  ProjectId,
  ReplyRecord,
  Store,
  TicketContents,
  TicketRecord,
  WordQuery,
} from "@svc/store";
import { searchWords } from "@svc/text";
import { plainSnippet } from "./plain-snippet.ts";
import { staleVersion, operation } from "./operation.ts";
import { asToolCall } from "./as-tool-call.ts";

const notFound = () => new ServiceError("not_found", "No ticket with this ID exists in this project.");

/**
 * A ticket of the principal's project as it is shown. Where it came in is told if that is the same project, or to an
 * administrator.
 */
export function asTicketItem(ticket: TicketRecord, principal: Principal): TicketItem {
  const tellsHome = ticket.homeProject === principal.project || isAdministrator(principal);
  // By its chat, which no other caller can choose: `channel_meta` may say anything.
  const isIssue = isIssueChat(ticket);
  return {
    id: ticket.id,
    homeProject: tellsHome ? ticket.homeProjectName : null,
    project: principal.projectName,
    channelId: ticket.channelId,
    chatId: ticket.chatId,
    userId: ticket.userId,
    customer: isIssue ? null : customerOf(ticket.channelMeta),
    origin: isIssue ? ISSUE_ORIGIN : null,
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

/** A ticket as a list shows it. */
function asListedTicket({ lastMessage, ...ticket }: ListedTicket, principal: Principal): TicketItem {
  const last: LastMessage | null =
    lastMessage === null
      ? null
      : { ...lastMessage, text: plainSnippet(lastMessage.text), at: lastMessage.at.toISOString() };
  return { ...asTicketItem(ticket, principal), lastMessage: last };
}

/** A message as it is shown. */
export function asMessage({ timestampMs, createdAt, finishedAt, ...message }: MessageRecord): TicketMessage {
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

/** A reply as it is shown. */
export function asReply({ createdAt, deliveredAt, content, ...reply }: ReplyRecord): TicketReply {
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
export function asEvent({ at, project, moves, data, ...event }: EventRecord, principal: Principal): TicketEvent {
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

/** What belongs to one project, and is not looked for in all of them. */
const OF_ONE_PROJECT = ["q", "chatId"] as const;

const ofOneProject = (input: TicketListInput): FieldFault[] =>
  input.allProjects === "1"
    ? OF_ONE_PROJECT.filter((name) => input[name] !== undefined).map((name) => ({
        pointer: `/${name}`,
        code: "invalid",
        detail: "belongs to one project; omit it, or omit allProjects",
      }))
    : [];

/**
 * Whose tickets a list is about, with what the principal may do in each: its own project; all of them for an
 * administrator; those that an operator who is signed in may read. Throws insufficient_scope for any other key.
 */
async function listOwners(store: Store, principal: Principal, ofAll: boolean): Promise<Map<ProjectId, Principal>> {
  if (!ofAll) return new Map([[principal.project, principal]]);
  const { operatorId } = principal;
  if (operatorId === undefined) requireScope(principal, "admin:*");
  const projects = await store.projects.list();
  const roles = operatorId === undefined ? null : ((await store.operators.find(operatorId))?.roles ?? []);
  return new Map(
    projects.flatMap(({ id, name }) => {
      const scopes = roles === null ? principal.scopes : scopesOfRoles(roles, name);
      const owner = { ...principal, scopes, project: id, projectName: name };
      return grantsScope(scopes, "tickets:read") ? [[id, owner] as const] : [];
    }),
  );
}

/** One project as the store takes it, or several. */
const spanOf = (owners: ReadonlyMap<ProjectId, Principal>, ofAll: boolean, { project }: Principal) =>
  ofAll ? [...owners.keys()] : project;

/**
 * A page of the tickets that the principal's project works on, by filters, words and order; a search without a word finds
 * nothing. With `allProjects` those of all projects that the principal may read: of an operator who is signed in, and of
 * an administrator. Scope tickets:read. Throws invalid_request with every fault of the input, and insufficient_scope where
 * another key asks for all projects.
 */
export const listTickets = operation(
  "listTickets",
  async ({ store }, principal, input): Promise<ListPage<TicketItem>> => {
    const ofAll = input.allProjects === "1";
    const owners = await listOwners(store, principal, ofAll);
    const {
      q,
      allProjects: _,
      ...query
    } = checkInput(ticketListSchema(input.sort), input, "The query", ofOneProject(input));
    const words = q === undefined ? null : wordQueryOf(q);
    if (q !== undefined && words === null) return { items: [], nextCursor: null };
    const { tickets, next } = await store.ticketList.listPage(spanOf(owners, ofAll, principal), { ...query, words });
    return {
      items: tickets.flatMap((ticket) => {
        const owner = owners.get(ticket.project);
        return owner === undefined ? [] : [asListedTicket(ticket, owner)];
      }),
      nextCursor: next === null ? null : encodeTicketCursor(query.sort, next),
    };
  },
);

/** Tickets that are counted at most. */
const COUNT_MAX = 1_000;

/**
 * How many tickets meet the filters, up to 1000: of the principal's project, or of all, as `listTickets` has them. Scope
 * tickets:read. Throws what that does, and invalid_request for words, which are not counted.
 */
export const countTickets = operation(
  "countTickets",
  async ({ store }, principal, input: Omit<TicketListInput, "limit" | "cursor" | "sort">): Promise<TicketCount> => {
    const ofAll = input.allProjects === "1";
    const owners = await listOwners(store, principal, ofAll);
    const { q: words, ...rest } = input;
    const faults = ofOneProject(rest);
    if (words !== undefined) faults.push({ pointer: "/q", code: "invalid", detail: "cannot be counted" });
    const { q: _q, allProjects: _all, ...query } = checkInput(ticketListSchema(undefined), input, "The query", faults);
    const count = await store.ticketList.count(spanOf(owners, ofAll, principal), { ...query, words: null }, COUNT_MAX);
    return { count, isMore: count >= COUNT_MAX };
  },
);

/**
 * The ticket with this id, in the principal's project, with what was said and done. One that was accepted and is not
 * opened yet has the stage `received` and version 0. Scope tickets:read. Throws not_found.
 */
export const getTicket = operation("getTicket", async ({ store }, principal, id) => {
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
});

/**
 * A file of a conversation: one that its visitor sent, one of a reply, or one that is handed in for a reply. Scope tickets:read. Throws not_found.
 */
export const getTicketFile = operation("getTicketFile", async ({ store }, principal, id, fileId) => {
  const ticket = await readTicket(store, principal, id);
  const { homeProject, id: ticketId } = ticket;
  const file = isUuid(fileId)
    ? ((await store.widgetFiles.find(homeProject, ticketId, fileId)) ??
      (await store.operatorFiles.read(homeProject, ticketId, [fileId]))[0])
    : undefined;
  if (file === undefined)
    throw new ServiceError("not_found", "This ticket has no file with this ID, or the file has expired.");
  return file;
});

/**
 * Changes what the input names, if the ticket has one of the expected versions. Scope tickets:write. Throws not_found,
 * also while the ticket is not opened yet, version_conflict with the present `ETag`, and invalid_request with every fault
 * of the input.
 */
export const updateTicket = operation(
  "updateTicket",
  async ({ store }, principal, { id, versions = null }, input) => {
    const change = checkInput(ticketChangeSchema, input, "The ticket");
    const { project, actor } = principal;
    if (!isUuid(id)) throw notFound();
    const changed = await store.ticketDetails.update(project, id, change, { versions, actor });
    if (changed !== null) return asTicketItem(changed, principal);
    const present = await store.ticketDetails.findOpened(project, id);
    throw present === null ? notFound() : staleVersion("The ticket", present.version);
  },
  { audit: "tickets.update" },
);
