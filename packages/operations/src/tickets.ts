import { isAdministrator, requireScope, scopesOfRoles } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  ServiceError,
  checkInput,
  encodeTicketCursor,
  grantsScope,
  ticketChangeSchema,
  ticketListSchema,
  ticketHistoryInputSchema,
  OPERATOR_FILE_LIMITS,
} from "@svc/contracts";
import type {
  FieldError,
  ListPage,
  PossibleDuplicateItem,
  TicketCount,
  TicketItem,
  TicketHistory,
  OperatorFile,
} from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { searchWords } from "@svc/text";
import { cleanFileName, sniffMime } from "@svc/channel-manager";
import type { EventRecord, ProjectId, Store, WordQuery } from "@svc/store";
import {
  asEvent,
  asListedTicket,
  asMessage,
  asReply,
  asTicketDetail,
  asTicketItem,
  asToolCall,
} from "./ticket-items.ts";
import { staleVersion, operation, requireScopeOf, objectReader, notInProject } from "./operation.ts";
import type { OperationArguments } from "./operation.ts";
import { audited } from "./audited.ts";

/**
 * Returns the likely duplicates that the newest run of an issue has found, as far as the project still works on them.
 */
async function readDuplicates(
  store: Store,
  { project }: Principal,
  events: readonly EventRecord[],
): Promise<PossibleDuplicateItem[]> {
  const noted = events.findLast((event) => "possibleDuplicates" in event.data && event.project === project);
  // Written only by the pipeline.
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

/** Parses the words of a search; the last one may be a prefix. Null if it has none. */
function wordQueryOf(q: string): WordQuery | null {
  const words = searchWords(q);
  const beginning = words.pop();
  return beginning === undefined ? null : { text: q, words, beginning };
}

/** Returns the ticket with this id in the principal's project, opened or only accepted. Throws not_found. */
export const readTicket = objectReader("ticket", ({ ticketDetails }) => ticketDetails.find);

/** Filters that belong to one project and are rejected in a search across projects. */
const OF_ONE_PROJECT = ["q", "chatId"] as const;

type TicketFilters = Omit<OperationArguments<"listTickets">[0], "limit" | "cursor" | "sort">;

const ofOneProject = (input: TicketFilters): FieldError[] =>
  input.allProjects === "1"
    ? OF_ONE_PROJECT.filter((name) => input[name] !== undefined).map((name) => ({
        pointer: `/${name}`,
        code: "invalid",
        detail: "belongs to one project; omit it, or omit allProjects",
      }))
    : [];

/**
 * Returns the projects of a list of tickets, with the principal's rights in each: its own project; with all projects,
 * every one for an administrator, and those that a signed-in operator may read. Throws insufficient_scope for any other
 * key.
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

/** Returns one project or several, in the store's format. */
const spanOf = (owners: ReadonlyMap<ProjectId, Principal>, ofAll: boolean, { project }: Principal) =>
  ofAll ? [...owners.keys()] : project;

/**
 * Returns a page of the tickets of the principal's project, by filters, words and order; a search without a word finds
 * nothing. `allProjects` includes all projects that the principal may read: for a signed-in operator or an
 * administrator. Throws invalid_request with every error of the input, and insufficient_scope if another key requests
 * all projects.
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

/** Maximum number of tickets that are counted. */
const COUNT_MAX = 1_000;

/**
 * Returns the number of tickets that match the filters, up to 1000: of the principal's project, or of all, like
 * `listTickets`. Throws the errors of that, and invalid_request for words, which are not counted.
 */
export const countTickets = operation(
  "countTickets",
  async ({ store }, principal, input: TicketFilters): Promise<TicketCount> => {
    const ofAll = input.allProjects === "1";
    const owners = await listOwners(store, principal, ofAll);
    const { q: words, ...rest } = input;
    const errors = ofOneProject(rest);
    if (words !== undefined) errors.push({ pointer: "/q", code: "invalid", detail: "cannot be counted" });
    const { q: _q, allProjects: _all, ...query } = checkInput(ticketListSchema(undefined), input, "The query", errors);
    const count = await store.ticketList.count(spanOf(owners, ofAll, principal), { ...query, words: null }, COUNT_MAX);
    return { count, isMore: count >= COUNT_MAX };
  },
);

/**
 * Returns the ticket with this id in the principal's project, with its messages and events. One that was accepted and
 * is not opened yet has the stage `received` and version 0.
 */
export const getTicket = operation("getTicket", async ({ store }, principal, id) => {
  const found = isUuid(id) ? await store.ticketDetails.read(principal.project, id) : null;
  if (found === null) throw notInProject("ticket");
  const { ticket, contents } = found;
  const [usage, toolCalls] = await Promise.all([
    // Other projects' model calls for this ticket belong to them.
    store.modelCalls.readTicket(isAdministrator(principal) ? null : principal.project, ticket.id),
    // Tool calls of other projects' agents are shown in those projects.
    store.toolCalls.listOfTicket(principal.project, ticket.id),
  ]);
  const calls = toolCalls.map((call) => asToolCall(call, principal.projectName));
  const possibleDuplicates = await readDuplicates(store, principal, contents.events);
  return asTicketDetail(ticket, contents, { usage, toolCalls: calls, possibleDuplicates }, principal);
});

/** Returns a file of a conversation: of a visitor, of a reply, or one uploaded for a reply. */
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
 * Changes the given fields if the ticket has one of the expected versions. Throws not_found, also while the ticket is
 * not opened yet, version_conflict with the current `ETag`, and invalid_request with every error of the input.
 */
export const updateTicket = operation(
  "updateTicket",
  async ({ store }, principal, { id, versions = null }, input) => {
    const change = checkInput(ticketChangeSchema, input, "The ticket");
    const { project, actor } = principal;
    if (!isUuid(id)) throw notInProject("ticket");
    const changed = await store.ticketDetails.update(project, id, { change, versions, actor });
    if (changed !== null) return asTicketItem(changed, principal);
    const present = await store.ticketDetails.findOpened(project, id);
    throw present === null ? notInProject("ticket") : staleVersion("The ticket", present.version);
  },
  { audit: "tickets.update" },
);

/** An uploaded file. */
export interface ReplyFileUpload {
  name: string;
  bytes: Buffer;
}

/**
 * Stores a file for a reply of this ticket, for at most a day without one. Its name is cleaned, its type detected from
 * its content. Scope tickets:write. Throws not_found, payload_too_large, and rate_limited if the ticket has too many
 * unused files.
 */
export const addReplyFile = audited(
  "tickets.file",
  async function addReplyFile(
    { store }: { store: Store },
    principal: Principal,
    ticketId: string,
    { name, bytes }: ReplyFileUpload,
  ): Promise<OperatorFile> {
    requireScopeOf(principal, "addReplyFile");
    const ticket = await readTicket(store, principal, ticketId);
    if (bytes.length === 0) {
      throw new ServiceError("invalid_request", "The file is empty.", {
        errors: [{ pointer: "", code: "too_small", detail: "must not be empty" }],
      });
    }
    if (bytes.length > OPERATOR_FILE_LIMITS.fileMaxBytes) {
      throw new ServiceError("payload_too_large", "A file must not exceed 10 MB.");
    }
    const filename = cleanFileName(name);
    const mime = sniffMime(bytes);
    const fileId = await store.operatorFiles.insert(ticket.homeProject, ticket.id, { filename, mime, content: bytes });
    if (fileId === null) {
      throw new ServiceError(
        "rate_limited",
        "This ticket has too many files that are not attached to a reply yet. Send some of them first.",
      );
    }
    return { fileId, filename, mime, sizeBytes: bytes.length };
  },
);

/**
 * Returns messages and events of a ticket of the principal's project before the given positions. Throws not_found, also
 * while the ticket is not opened yet, and invalid_request.
 */
export const getTicketHistory = operation(
  "getTicketHistory",
  async ({ store }, principal, id, input): Promise<TicketHistory> => {
    const {
      messagesBefore: messages = null,
      repliesBefore: replies = null,
      eventsBefore: events = null,
    } = checkInput(ticketHistoryInputSchema, input, "The query");
    const before = { messages, replies, events };
    const found = isUuid(id) ? await store.ticketDetails.readOlder(principal.project, id, before) : null;
    if (found === null) throw notInProject("ticket");
    return {
      messages: found.messages.map(asMessage),
      replies: found.replies.map(asReply),
      events: found.events.map((event) => asEvent(event, principal)),
      more: found.more,
    };
  },
);
