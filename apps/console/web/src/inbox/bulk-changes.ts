import { ServiceError } from "@svc/client";
import type { TicketItem } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import { decide, give, undoClose } from "../api/tickets.ts";
import type { TextKey } from "../i18n/texts.ts";

/** So many calls are made at once: enough to be quick, and few enough to leave the server to others. */
const AT_ONCE = 4;
/** How often a call is made again that the server has put off, as it does with too many in a minute. */
const TRIES = 5;

const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Does it again where the server says that there were too many calls, when it says that there may be more. */
async function patiently(work: () => Promise<void>, pause: (ms: number) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "rate_limited" || tries === TRIES) throw error;
      await pause((error.retryAfterSeconds ?? 1) * 1_000);
    }
  }
}

/** Does the same with each item. What fails does not stop the others. `onProgress` hears how many are over. */
export async function runAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  onProgress: (over: number) => void,
  pause: (ms: number) => Promise<void> = pauseMs,
): Promise<{ done: Item[]; errors: { item: Item; error: unknown }[] }> {
  const done: Item[] = [];
  const errors: { item: Item; error: unknown }[] = [];
  const queue = [...items];
  async function takeOn(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      const current = item;
      try {
        await patiently(() => work(current), pause);
        done.push(current);
      } catch (error) {
        errors.push({ item: current, error });
      }
      onProgress(done.length + errors.length);
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, takeOn));
  return { done, errors };
}

/** What can be done with many tickets at once, with what it takes besides. */
interface BulkInputs {
  takeover: object;
  resolve: object;
  spam: object;
  reopen: object;
  assign: { assignee: string };
  tag: { tag: string };
}
type BulkKind = keyof BulkInputs;
export type BulkChange = { [Kind in BulkKind]: { kind: Kind } & BulkInputs[Kind] }[BulkKind];

/** What is told when it is done, and what taking it back is called. */
export const BULK_TEXTS = {
  takeover: { done: "bulk.takeoverDone", undo: "ui.undo" },
  assign: { done: "bulk.assignDone", undo: "ui.undo" },
  tag: { done: "bulk.tagDone", undo: "ui.undo" },
  reopen: { done: "bulk.reopenDone", undo: "ui.undo" },
  resolve: { done: "bulk.resolveDone", undo: "ui.undo" },
  spam: { done: "bulk.spamDone", undo: "ui.undo" },
} as const satisfies Record<BulkKind, { done: TextKey; undo: TextKey }>;

const isClosed = ({ status }: TicketItem) => status === "resolved" || status === "spam";

async function setTags(connection: Connection, ticket: TicketItem, tags: string[]): Promise<TicketItem> {
  const input = { params: { id: ticket.id }, body: { tags }, ifMatch: ticket.version };
  return (await connection.call("updateTicket", ticket.project, input)).item;
}

/** How it is done with one ticket. */
type Work<Kind extends BulkKind> = (
  connection: Connection,
  ticket: TicketItem,
  input: BulkInputs[Kind],
) => Promise<TicketItem>;
/** How it is taken back: what the ticket was before, and what it has become. */
type Undoing = (connection: Connection, before: TicketItem, after: TicketItem) => Promise<TicketItem>;

const closeAs =
  (status: "resolved" | "spam") =>
  (connection: Connection, ticket: TicketItem): Promise<TicketItem> =>
    decide(connection, ticket, "resolve", { status });

const WORK: { [Kind in BulkKind]: Work<Kind> } = {
  takeover: (connection, ticket) => decide(connection, ticket, "takeover", {}),
  reopen: (connection, ticket) => decide(connection, ticket, "reopen", {}),
  resolve: closeAs("resolved"),
  spam: closeAs("spam"),
  assign: (connection, ticket, { assignee }) => decide(connection, ticket, "assign", { assignee }),
  tag: (connection, ticket, { tag }) =>
    ticket.tags.includes(tag) ? Promise.resolve(ticket) : setTags(connection, ticket, [...ticket.tags, tag]),
};

// The ticket was not the agent's before: what waits in it keeps its draft.
const giveBack: Undoing = (connection, { assignee }, after) => give(connection, after, { assignee, keepsDraft: true });
const closeAgain: Undoing = (connection, before, after) =>
  decide(connection, after, "resolve", { status: before.status === "spam" ? "spam" : "resolved" });
const open: Undoing = (connection, before, after) =>
  isClosed(before) ? closeAgain(connection, before, after) : undoClose(connection, after);

const UNDOING: Record<BulkKind, Undoing> = {
  takeover: giveBack,
  assign: giveBack,
  reopen: closeAgain,
  resolve: open,
  spam: open,
  tag: (connection, before, after) => setTags(connection, after, before.tags),
};

/** Does it with one ticket as it is shown: throws version_conflict where the ticket has changed since. */
export function applyBulk(connection: Connection, ticket: TicketItem, change: BulkChange): Promise<TicketItem> {
  // The input is the one of its kind.
  const work = WORK[change.kind] as Work<BulkKind>;
  return work(connection, ticket, change);
}

/**
 * Takes it back: the ticket becomes what it was before, as far as that can be. `after` is what it has become; throws
 * version_conflict where it has changed since.
 */
export function undoBulk(
  connection: Connection,
  { before, after }: { before: TicketItem; after: TicketItem },
  { kind }: BulkChange,
): Promise<TicketItem> {
  return UNDOING[kind](connection, before, after);
}
