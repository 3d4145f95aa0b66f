import type { Principal } from "@svc/auth";
import {
  cannedReplyChangeSchema,
  cannedReplyInputSchema,
  cannedReplyRenderSchema,
  checkInput,
  customerOf,
  fillVariables,
  invalidInput,
} from "@svc/contracts";
import type { CannedReply, CannedReplyVariable, RenderedReply, ReplyActions } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import type { CannedReplyRecord, Store, TicketFacts, TicketRecord } from "@svc/store";
import { nameTaken, readPage, staleVersion, operation, objectReader, notInProject } from "./operation.ts";
import { ownCustomerOf } from "./ticket-items.ts";
import { readTicket } from "./tickets.ts";

function asItem(record: CannedReplyRecord): CannedReply {
  return { ...record, createdAt: record.createdAt.toISOString(), updatedAt: record.updatedAt.toISOString() };
}

const readCannedReply = objectReader("canned reply", ({ cannedReplies }) => cannedReplies.find);

/** Returns a page of the canned replies of the principal's project, newest first; `q` searches name and text. */
export const listCannedReplies = operation(
  "listCannedReplies",
  async ({ store }, principal, { folder, tag, ...input }) => {
    const found = Object.entries({ folder, tag } as Record<string, unknown>).flatMap(([name, value]) =>
      value === undefined || (typeof value === "string" && value.isWellFormed() && !value.includes("\0"))
        ? []
        : [{ pointer: `/${name}`, code: "invalid_type", detail: "must be given once, as a string" }],
    );
    return readPage("canned replies", input, {
      read: (query) => store.cannedReplies.listPage(principal.project, { ...query, folder, tag }),
      asItem,
      found,
    });
  },
);

/** Returns the canned reply with this id in the principal's project. */
export const getCannedReply = operation("getCannedReply", async ({ store }, principal, id) => {
  return asItem(await readCannedReply(store, principal, id));
});

/**
 * Creates a canned reply. Throws invalid_request with every error of the input, including unknown variables, and if the
 * project has one of this name.
 */
export const createCannedReply = operation(
  "createCannedReply",
  async ({ store }, principal, input) => {
    const fields = checkInput(cannedReplyInputSchema, input, "The canned reply");
    const record = await store.cannedReplies.insert(principal.project, fields);
    if (record === null) throw nameTaken("canned reply", fields.name);
    return asItem(record);
  },
  { audit: "canned_replies.create" },
);

/**
 * Changes the given fields if the canned reply has one of the expected versions. Throws invalid_request like
 * `createCannedReply`.
 */
export const updateCannedReply = operation(
  "updateCannedReply",
  async ({ store }, principal, { id, versions = null }, input) => {
    const change = checkInput(cannedReplyChangeSchema, input, "The canned reply");
    const before = await readCannedReply(store, principal, id);
    const { result, record } = await store.cannedReplies.update(principal.project, { id: before.id, versions }, change);
    if (record === null) throw notInProject("canned reply");
    if (result === "taken") throw nameTaken("canned reply", change.name ?? "");
    if (result === "stale") throw staleVersion("The canned reply", record.version);
    return asItem(record);
  },
  { audit: "canned_replies.update" },
);

/** Deletes a canned reply if it has one of the expected versions, and returns it. */
export const deleteCannedReply = operation(
  "deleteCannedReply",
  async ({ store }, principal, { id, versions = null }) => {
    const record = await readCannedReply(store, principal, id);
    if (!(await store.cannedReplies.remove(principal.project, { id: record.id, versions }))) {
      throw staleVersion("The canned reply", (await readCannedReply(store, principal, id)).version);
    }
    return asItem(record);
  },
  { audit: "canned_replies.delete" },
);

/** All characters with a meaning in Markdown, and in its HTML. */
const MARKDOWN_SIGNS = /[\\`*_{}[\]()#+\-.!|<>~&^$=:/@"']/g;
/** Those with a meaning within a line: `_` at the edge of a word, `&` of an entity, and `:` and `.` of a URL. */
const INLINE_SIGNS = /[\\`*[\]<~{}]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?\w*(?:;|$))|:(?=\/\/)|(?<=www)\./giu;
/** The beginning of a line that makes it a heading, a list, a quote, a rule, an underline or a table. */
const BLOCK_START = /^(?:\d{1,9}(?=[.)](?:\s|$))|(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|[-=:|][-=:| ]*$|>))/u;
/** Text before a value that begins its line. */
const LINE_START = /^[\s\d>*+.)#-]*$/u;

/** Returns true if a text ends within the text or the target of a link, or within a tag. */
const isInLink = (before: string): boolean =>
  before.lastIndexOf("[") > before.lastIndexOf("]") ||
  /^(?:\]\(|<)[^)>]*$/u.test(before.slice(Math.max(before.lastIndexOf("]("), before.lastIndexOf("<"), 0)));

/**
 * Escapes a value so that Markdown shows it verbatim, on one line, after the text `before` it in its line. Operators see the text in
 * the composer, so only characters that change its rendering are escaped.
 */
export function escapeMarkdown(value: string, before: string, { isInTable }: { isInTable: boolean }): string {
  const line = value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  if (isInTable || isInLink(before)) return line.replace(MARKDOWN_SIGNS, "\\$&");
  const escaped = line.replace(INLINE_SIGNS, "\\$&");
  return LINE_START.test(before) ? escaped.replace(BLOCK_START, "$&\\") : escaped;
}

/** Returns the name of the operator or of the key; an empty text for the command line. */
async function nameOf(store: Store, { actor, keyId }: Principal): Promise<string> {
  const [, operatorId = ""] = /^operator:(.+)$/.exec(actor) ?? [];
  if (isUuid(operatorId)) return (await store.operators.find(operatorId))?.name ?? "";
  return keyId === null ? "" : ((await store.apiKeys.find(keyId))?.name ?? "");
}

function valuesOf(
  ticket: TicketRecord,
  principal: Principal,
  { facts, operatorName }: { facts: TicketFacts; operatorName: string },
): Record<CannedReplyVariable, string> {
  return {
    // A friendly name is for operators: the customer does not know it.
    "customer.name": (ownCustomerOf(ticket, principal) ?? customerOf(ticket.channelMeta))?.name ?? "",
    "customer.userId": facts.userId ?? "",
    "customer.chatId": facts.chatId,
    "ticket.id": ticket.id,
    "ticket.subject": facts.subject,
    "ticket.channel": facts.channelId,
    "ticket.language": facts.language ?? "",
    "agent.name": facts.agentName ?? "",
    "project.name": facts.projectName,
    "operator.name": operatorName,
  };
}

const HOUR_MS = 3_600_000;

/** Returns the changes of a ticket by a canned reply, for a reply of this principal. */
function actionsOf({ addTags, priority, assignee, snoozeHours }: CannedReply["actions"], actor: string): ReplyActions {
  const until = (hours: number | null) =>
    hours === null ? null : new Date(Date.now() + hours * HOUR_MS).toISOString();
  return {
    ...(addTags === undefined || addTags.length === 0 ? {} : { addTags }),
    ...(priority === undefined ? {} : { priority }),
    ...(assignee === undefined ? {} : { assignee: assignee === "self" ? actor : assignee }),
    ...(snoozeHours === undefined ? {} : { snooze: { until: until(snoozeHours) } }),
  };
}

/**
 * Fills in a canned reply for a ticket; nothing is sent. Values are shown verbatim, with Markdown escaped, and an
 * unknown value is empty. Includes the changes of the ticket, in the format of a reply. Throws invalid_request for a
 * ticket that is not in the project.
 */
export const renderCannedReply = operation(
  "renderCannedReply",
  async ({ store }, principal, id, input): Promise<RenderedReply> => {
    const { ticketId } = checkInput(cannedReplyRenderSchema, input, "The call");
    const { text, actions } = await readCannedReply(store, principal, id);
    const facts = await store.cannedReplies.findTicketFacts(principal.project, ticketId);
    if (facts === null) {
      const detail = "is not the ID of a ticket in this project";
      throw invalidInput([{ pointer: "/ticketId", code: "not_found", detail }], "The call");
    }
    const ticket = await readTicket(store, principal, ticketId);
    const values: Record<string, string> = valuesOf(ticket, principal, {
      facts,
      operatorName: await nameOf(store, principal),
    });
    const isInTable = text.includes("|");
    return {
      text: fillVariables(text, (name, before) => escapeMarkdown(values[name] ?? "", before, { isInTable })),
      markdown: true,
      resolves: actions.resolves === true,
      actions: actionsOf(actions, principal.actor),
    };
  },
);
