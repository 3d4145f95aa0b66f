import { z } from "zod";
import { channelIdSchema } from "./incoming-message.ts";
import { ISSUE_ORIGIN } from "./issue.ts";
import { LIMITS } from "./limits.ts";
import { cursorSchema, decodeKeyCursor, encodeKeyCursor, listFields } from "./list-query.ts";
import type { KeyPlace, ListInput } from "./list-query.ts";
import { REVIEW_LIMITS } from "./review.ts";
import { ticketPrioritySchema, ticketTagField } from "./ticket-item.ts";
import { ticketStageSchema, ticketStatusSchema } from "./ticket.ts";
import { timeParameter } from "./list-query.ts";
import { textUpTo } from "./well-formed.ts";

/**
 * Sort orders of tickets; a minus sorts in descending order. Tickets of the same priority are sorted by most recent
 * update.
 */
export const TICKET_SORTS = ["createdAt", "-createdAt", "updatedAt", "-updatedAt", "priority", "-priority"] as const;
export type TicketSort = (typeof TICKET_SORTS)[number];

const DEFAULT_SORT: TicketSort = "-updatedAt";

/** Query of the list of tickets. Filters are combined with AND; omitted filters are ignored. */
export interface TicketListInput extends ListInput {
  /**
   * Words that all occur in the subject, the messages, the replies or the customer, case-insensitive. The last word can
   * be a prefix.
   */
  q?: string | undefined;
  sort?: string | undefined;
  status?: string | undefined;
  stage?: string | undefined;
  channelId?: string | undefined;
  agentId?: string | undefined;
  /** `none` for unassigned tickets. */
  assignee?: string | undefined;
  priority?: string | undefined;
  tag?: string | undefined;
  language?: string | undefined;
  userId?: string | undefined;
  chatId?: string | undefined;
  /** Times: the first of each pair is inclusive, the second exclusive. */
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
  updatedFrom?: string | undefined;
  updatedTo?: string | undefined;
  /** `tool-server`: the shared inbox, which contains submitted issues. */
  origin?: string | undefined;
  /**
   * `1`: all projects that the operator can read, or all projects for administrators. Cannot be combined with `q` and
   * `chatId`.
   */
  allProjects?: string | undefined;
  /** `1`: tickets that need attention from an operator. */
  needsReview?: string | undefined;
}

const oneOf = <const Option extends string>(options: readonly Option[]) =>
  z.enum(options, { error: `must be one of ${options.join(", ")}` });

const filledUpTo = (maxChars: number) => textUpTo(maxChars).min(1, { error: "must have at least 1 character" });

const sortSchema = oneOf(TICKET_SORTS).default(DEFAULT_SORT);

const flag = z.enum(["0", "1"], { error: "must be 1, or 0 for all" }).transform((given) => given === "1");

/** Schemas of the ticket filters. */
export const ticketFilters = {
  status: oneOf(ticketStatusSchema.options),
  stage: oneOf(ticketStageSchema.options),
  channelId: oneOf(channelIdSchema.options),
  agentId: z.uuid({ error: "must be the ID of an agent" }),
  assignee: filledUpTo(REVIEW_LIMITS.assigneeMaxChars),
  priority: oneOf(ticketPrioritySchema.options),
  tag: ticketTagField,
  language: z.string().regex(/^[a-z]{2,3}$/, { error: "must be an ISO 639-1 language, such as en" }),
  userId: filledUpTo(LIMITS.userIdMaxChars),
  chatId: filledUpTo(LIMITS.chatIdMaxChars),
  createdFrom: timeParameter,
  createdTo: timeParameter,
  updatedFrom: timeParameter,
  updatedTo: timeParameter,
  origin: oneOf([ISSUE_ORIGIN]),
  allProjects: flag,
  needsReview: flag,
};

/** Returns the name of the list with this sort order, which its cursors are bound to. */
const listName = (sort: string) => `tickets ${sort}`;

/** Returns the cursor of the page after a ticket in the list with this sort order. */
export function encodeTicketCursor(sort: TicketSort, place: KeyPlace): string {
  return encodeKeyCursor(listName(sort), place);
}

/**
 * Returns the schema of a query for tickets, see `TicketListInput`; `sort` is the input's sort order, because a cursor
 * is valid for one order. The result has `after`, the decoded position, instead of the cursor.
 */
export function ticketListSchema(sort: unknown) {
  const list = listName(typeof sort === "string" ? sort : DEFAULT_SORT);
  return z
    .object({
      limit: listFields.limit,
      sort: sortSchema,
      cursor: cursorSchema((cursor) => decodeKeyCursor(list, cursor)).optional(),
      q: listFields.q,
    })
    .extend(z.object(ticketFilters).partial().shape)
    .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
}
export type TicketListQuery = z.output<ReturnType<typeof ticketListSchema>>;
