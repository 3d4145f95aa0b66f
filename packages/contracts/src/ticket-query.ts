import { z } from "zod";
import { channelIdSchema } from "./incoming-message.ts";
import { ISSUE_ORIGIN } from "./issue.ts";
import { LIMITS } from "./limits.ts";
import { cursorSchema, decodeKeyCursor, encodeKeyCursor, listFields } from "./list-query.ts";
import type { KeyPlace, ListInput } from "./list-query.ts";
import { REVIEW_LIMITS } from "./review.ts";
import { ticketPrioritySchema, ticketTagSchema } from "./ticket-item.ts";
import { ticketStageSchema, ticketStatusSchema } from "./ticket.ts";
import { timeParameter } from "./time-parameter.ts";
import { textUpTo } from "./well-formed.ts";

/** What tickets can be sorted by, a minus for the greatest first. Of the same priority, the newest change first. */
export const TICKET_SORTS = ["createdAt", "-createdAt", "updatedAt", "-updatedAt", "priority", "-priority"] as const;
export type TicketSort = (typeof TICKET_SORTS)[number];

const DEFAULT_SORT: TicketSort = "-updatedAt";

/** What is asked of the list of tickets: all filters hold together. What is left out filters nothing. */
export interface TicketListInput extends ListInput {
  /** Words that all stand in the subject, the messages, the replies or the customer, in any case; the last one may be the beginning of a word. */
  q?: string | undefined;
  sort?: string | undefined;
  status?: string | undefined;
  stage?: string | undefined;
  channelId?: string | undefined;
  agentId?: string | undefined;
  /** `none` for tickets that nobody has. */
  assignee?: string | undefined;
  priority?: string | undefined;
  tag?: string | undefined;
  language?: string | undefined;
  userId?: string | undefined;
  chatId?: string | undefined;
  /** Times: from the first on, before the second. */
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
  updatedFrom?: string | undefined;
  updatedTo?: string | undefined;
  /** `tool-server`: the shared Inbox, which is the submitted issues. */
  origin?: string | undefined;
  /** `1`: of all projects that an operator may read, and of all for an administrator; without `q` and `chatId`. */
  allProjects?: string | undefined;
  /** `1`: those that a person has to look at. */
  needsReview?: string | undefined;
}

const oneOf = <const Option extends string>(options: readonly Option[]) =>
  z.enum(options, { error: `one of ${options.join(", ")}` });

const filledUpTo = (maxChars: number) => textUpTo(maxChars).min(1, { error: "at least 1 character" });

const sortSchema = oneOf(TICKET_SORTS).default(DEFAULT_SORT);

const flag = z.enum(["0", "1"], { error: "1, or 0 for all" }).transform((given) => given === "1");

/** What tickets can be asked for by, each by itself. */
export const ticketFilters = {
  status: oneOf(ticketStatusSchema.options),
  stage: oneOf(ticketStageSchema.options),
  channelId: oneOf(channelIdSchema.options),
  agentId: z.uuid({ error: "the id of an agent" }),
  assignee: filledUpTo(REVIEW_LIMITS.assigneeMaxChars),
  priority: oneOf(ticketPrioritySchema.options),
  tag: ticketTagSchema,
  language: z.string().regex(/^[a-z]{2,3}$/, { error: "a language of ISO 639-1, such as en" }),
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

/** Name of the list that is sorted so, which its cursors are tied to. */
const listName = (sort: string) => `tickets ${sort}`;

/** The cursor of what follows a ticket in the list that is sorted so. */
export function encodeTicketCursor(sort: TicketSort, place: KeyPlace): string {
  return encodeKeyCursor(listName(sort), place);
}

/**
 * What is asked of the list of tickets, as `TicketListInput` has it; `sort` is what the input says of it, for a cursor
 * belongs to one order. The result has, in place of the cursor, `after`: the place after which the list goes on.
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
