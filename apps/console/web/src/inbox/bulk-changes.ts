import { ServiceError } from "@svc/client";
import type { TicketChange, TicketItem, TicketPriority } from "@svc/contracts";
import { pauseMs } from "../api/connection.ts";
import type { Connection } from "../api/connection.ts";
import { decide, assignTicket, undoClose } from "../api/tickets.ts";

/** Maximum number of concurrent calls, so that other requests of the console are not delayed. */
const CONCURRENCY = 4;
/** Maximum number of attempts of a call that is rate-limited. */
const MAX_ATTEMPTS = 5;

/** Retries rate-limited work after the time that the server asks for. */
async function withRetries(work: () => Promise<void>, pause: (ms: number) => Promise<void>): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "rate_limited" || attempts === MAX_ATTEMPTS) throw error;
      await pause((error.retryAfterSeconds ?? 1) * 1_000);
    }
  }
}

/** Runs the work for each item. A failure does not stop the others. `onProgress` receives the number of finished items. */
export async function runAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  onProgress: (finished: number) => void,
  pause: (ms: number) => Promise<void> = pauseMs,
): Promise<{ done: Item[]; errors: { item: Item; error: unknown }[] }> {
  const done: Item[] = [];
  const errors: { item: Item; error: unknown }[] = [];
  const queue = [...items];
  async function runNext(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      const current = item;
      try {
        await withRetries(() => work(current), pause);
        done.push(current);
      } catch (error) {
        errors.push({ item: current, error });
      }
      onProgress(done.length + errors.length);
    }
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, runNext));
  return { done, errors };
}

/** The inputs of the changes that can be made to many tickets. */
interface BulkInputs {
  takeover: object;
  resolve: object;
  spam: object;
  reopen: object;
  assign: { assignee: string };
  tag: { tags: readonly string[] };
  priority: { priority: TicketPriority };
  /** Null until the next message of the customer. */
  snooze: { until: string | null };
}
type BulkKind = keyof BulkInputs;
export type BulkChange = { [Kind in BulkKind]: { kind: Kind } & BulkInputs[Kind] }[BulkKind];

const isClosed = ({ status }: TicketItem) => status === "resolved" || status === "spam";

async function update(connection: Connection, ticket: TicketItem, body: TicketChange): Promise<TicketItem> {
  const input = { params: { id: ticket.id }, body, ifMatch: ticket.version };
  return (await connection.call("updateTicket", ticket.project, input)).item;
}

/** Makes a change to one ticket. */
type Change<Kind extends BulkKind> = (
  connection: Connection,
  ticket: TicketItem,
  input: BulkInputs[Kind],
) => Promise<TicketItem>;
/** Undoes a change: `before` is the ticket before it, `after` the ticket after it. */
type Undo = (connection: Connection, before: TicketItem, after: TicketItem) => Promise<TicketItem>;

const closeAs =
  (status: "resolved" | "spam") =>
  (connection: Connection, ticket: TicketItem): Promise<TicketItem> =>
    decide(connection, ticket, "resolve", { status });

const CHANGES: { [Kind in BulkKind]: Change<Kind> } = {
  takeover: (connection, ticket) => decide(connection, ticket, "takeover", {}),
  reopen: (connection, ticket) => decide(connection, ticket, "reopen", {}),
  resolve: closeAs("resolved"),
  spam: closeAs("spam"),
  assign: (connection, ticket, { assignee }) => decide(connection, ticket, "assign", { assignee }),
  tag: (connection, ticket, { tags }) => {
    const all = [...new Set([...ticket.tags, ...tags])];
    return all.length === ticket.tags.length ? Promise.resolve(ticket) : update(connection, ticket, { tags: all });
  },
  priority: (connection, ticket, { priority }) => update(connection, ticket, { priority }),
  snooze: (connection, ticket, { until }) => decide(connection, ticket, "snooze", { until }),
};

// The ticket was not assigned to the agent before, so its draft is not discarded.
const assignBack: Undo = (connection, { assignee }, after) =>
  assignTicket(connection, after, { assignee, keepsDraft: true });
const closeAgain: Undo = (connection, before, after) =>
  decide(connection, after, "resolve", { status: before.status === "spam" ? "spam" : "resolved" });
const reopen: Undo = (connection, before, after) =>
  isClosed(before) ? closeAgain(connection, before, after) : undoClose(connection, after);

const UNDO: Record<BulkKind, Undo> = {
  takeover: assignBack,
  assign: assignBack,
  reopen: closeAgain,
  resolve: reopen,
  spam: reopen,
  tag: (connection, { tags }, after) => update(connection, after, { tags }),
  priority: (connection, { priority }, after) => update(connection, after, { priority }),
  snooze: (connection, { snooze }, after) =>
    snooze === null
      ? decide(connection, after, "unsnooze", {})
      : decide(connection, after, "snooze", { until: snooze.until }),
};

/** Makes a change to one ticket. Throws version_conflict if the ticket is newer than the one shown. */
export function applyBulk(connection: Connection, ticket: TicketItem, change: BulkChange): Promise<TicketItem> {
  // The type of a change guarantees that its input is the one of its kind.
  const apply = CHANGES[change.kind] as Change<BulkKind>;
  return apply(connection, ticket, change);
}

/** Undoes a change as far as possible. Throws version_conflict if the ticket has changed since `after`. */
export function undoBulk(
  connection: Connection,
  { before, after }: { before: TicketItem; after: TicketItem },
  { kind }: BulkChange,
): Promise<TicketItem> {
  return UNDO[kind](connection, before, after);
}
