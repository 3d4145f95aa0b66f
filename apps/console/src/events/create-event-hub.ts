import type { Log } from "@svc/log";
import { announcePresence, followPresence, followVisitorTyping } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { createBriefCache, isBusy, isUnavailable } from "@svc/store";
import type { Store, TicketChangeRecord } from "@svc/store";

/** An event, sent to all operators with access to it. Projects are identified by ID. */
export type HubEvent =
  | { kind: "change"; change: TicketChangeRecord }
  /** Operators who are viewing a ticket, each in the project of their role. */
  | { kind: "presence"; ticketId: string; viewers: Viewer[] }
  /** The customer is writing; for the operators who are viewing the ticket. */
  | { kind: "customerTyping"; ticketId: string; viewers: Viewer[] }
  /** Events may have been missed: everything has to be read again. */
  | { kind: "lost" };

export interface Viewer {
  operatorId: string;
  name: string;
  isTyping: boolean;
  project: string;
}

/** Events of tickets and of their viewers, from all replicas. */
export interface EventHub {
  /** Calls `tell` with each event until the returned function is called. */
  subscribe(tell: (event: HubEvent) => void): () => void;
  /** Makes all replicas refetch the viewers of these tickets. */
  notePresence(ticketIds: readonly string[]): void;
  /** Returns the name of a project; null if it was deleted. */
  findProjectName(id: string): Promise<string | null>;
  close(): void;
}

const POLL_MS = 400;
/** An event of a transaction that took longer is sent with the next one of its ticket. */
const LATE_MS = 5_000;
const SWEEP_MS = 5_000;
const NAMES_MS = 2_000;
const PAGE = 500;
/** Maximum number of tickets with a writing customer between two reads of their viewers; more are skipped. */
const MAX_TYPING = 200;
/** Above this number at once, events are not sent one by one. */
const MAX_BEHIND = 5_000;

/** Events sent in the last seconds: a transaction may end after one that began later. */
function createSentEvents(newest: number) {
  const times = new Map<number, number>();
  let floor = newest;
  return {
    floor: () => floor,
    known: () => [...times.keys()],
    add: (id: number) => times.set(id, performance.now()),
    /** Removes entries that are too old to matter. */
    trim() {
      const until = performance.now() - LATE_MS;
      for (const [id, at] of times) {
        if (at > until) continue;
        times.delete(id);
        floor = Math.max(floor, id);
      }
    },
    jumpTo(id: number) {
      times.clear();
      floor = id;
    },
  };
}

/**
 * Creates the source of the event streams of a process. Events of tickets are read from the store a few times a second,
 * with one query for all streams, and only while there are any: so a lost wake-up loses no event, whichever process
 * changed a ticket.
 */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createEventHub({ store, queues, log }: { store: Store; queues: Queues; log: Log }): EventHub {
  const listeners = new Set<(event: HubEvent) => void>();
  const names = createBriefCache<{ name: string }>(NAMES_MS);
  let sent: ReturnType<typeof createSentEvents> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let sweptAt = 0;
  let isAway = false;

  const tellAll = (event: HubEvent) => {
    for (const tell of listeners) tell(event);
  };

  async function readChanges(): Promise<void> {
    if (sent === null) {
      sent = createSentEvents(await store.ticketChanges.findNewest());
      return;
    }
    for (let count = 0; ;) {
      const changes = await store.ticketChanges.listAfter(sent.floor(), sent.known(), PAGE);
      for (const change of changes) {
        sent.add(change.id);
        tellAll({ kind: "change", change });
      }
      count += changes.length;
      if (changes.length < PAGE) break;
      if (count >= MAX_BEHIND) {
        sent.jumpTo(await store.ticketChanges.findNewest());
        tellAll({ kind: "lost" });
        break;
      }
    }
    sent.trim();
  }

  async function tellPresence(ticketIds: readonly string[]): Promise<void> {
    const viewers = await store.operatorPresence.list(ticketIds);
    for (const id of ticketIds) {
      const own = viewers.filter(({ ticketId }) => ticketId === id);
      tellAll({ kind: "presence", ticketId: id, viewers: own });
    }
  }

  // However many visitors are typing, the viewers of their tickets are read once per interval, for a limited number of
  // tickets.
  const typing = new Set<string>();
  let typingTimer: NodeJS.Timeout | undefined;

  async function tellTyping(): Promise<void> {
    typingTimer = undefined;
    const ticketIds = [...typing];
    typing.clear();
    const viewers = await store.operatorPresence.list(ticketIds);
    for (const id of new Set(viewers.map(({ ticketId }) => ticketId))) {
      const own = viewers.filter(({ ticketId }) => ticketId === id);
      tellAll({ kind: "customerTyping", ticketId: id, viewers: own });
    }
  }

  function noteTyping(ticketIds: readonly string[]): void {
    if (listeners.size === 0 || isClosed) return;
    for (const id of ticketIds) if (typing.size < MAX_TYPING) typing.add(id);
    typingTimer ??= setTimeout(() => {
      tellTyping().catch((error: unknown) => note(error, "failed to read who is viewing a ticket"));
    }, POLL_MS);
  }

  const note = (error: unknown, what: string) => {
    if (isUnavailable(error)) log.debug({ error }, what);
    else log.warn({ error }, what);
  };

  function notePresence(ticketIds: readonly string[]): void {
    if (ticketIds.length > 0) announcePresence(queues, [...ticketIds]);
  }

  async function check(): Promise<void> {
    try {
      await readChanges();
      if (performance.now() - sweptAt > SWEEP_MS) {
        sweptAt = performance.now();
        notePresence(await store.operatorPresence.sweep());
      }
      if (isAway) tellAll({ kind: "lost" });
      isAway = false;
    } catch (error) {
      // Nothing is missed while all connections are in use: the next poll continues where this one stopped.
      if (!isBusy(error)) isAway = true;
      note(error, "failed to read ticket events; retrying");
    }
    if (listeners.size > 0 && !isClosed) timer = setTimeout(() => void check(), POLL_MS);
    else {
      timer = undefined;
      sent = null;
    }
  }

  const silence = followPresence(queues, (ids) => {
    if (listeners.size === 0) return;
    tellPresence(ids).catch((error: unknown) => note(error, "failed to read who is viewing a ticket"));
  });

  const endTyping = followVisitorTyping(queues, noteTyping);

  return {
    subscribe(tell) {
      listeners.add(tell);
      if (timer === undefined && !isClosed) timer = setTimeout(() => void check(), 0);
      return () => listeners.delete(tell);
    },
    notePresence,
    async findProjectName(id) {
      const found = await names.get(id, async () => {
        const project = (await store.projects.list()).find((one) => one.id === id);
        return project === undefined ? null : { name: project.name };
      });
      return found?.name ?? null;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(typingTimer);
      silence();
      endTyping();
      listeners.clear();
    },
  };
}
