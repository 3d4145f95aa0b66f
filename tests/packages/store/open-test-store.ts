import type { AcceptedMessage, MessageDraft } from "@svc/contracts";
import { LeaseLostError, STORAGE_LIMITS, newId, openStore } from "@svc/store";
import type { ClaimedMessage, FinishedRun, NewMessage, ProjectId, RunOutcome, StorageLimits, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import { Pool } from "pg";

/** A secret key like those generated for a data folder. */
export const SECRET_KEY = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/** A store on a separate database, with functions that bypass it. */
export interface TestStore {
  readonly url: string;
  readonly store: Store;
  /** Opens another store on the same database with separate connections, like another process. */
  openAnother(storageLimits?: StorageLimits, filesUrl?: string): Store;
  /** Runs SQL on a separate connection; int8 is returned as text, so cast it. */
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Creates a new project. */
  newProject(): Promise<ProjectId>;
  /** Makes the lease on a chat look as if its worker had not renewed it in time. */
  expireLease(ticketId: string): Promise<void>;
  /** Makes a process look crashed. */
  killInstance(instance: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens a store on a new database. Close it in `afterAll`. */
export async function openTestStore(): Promise<TestStore> {
  const database = await createTestDatabase();
  const stores: Store[] = [];
  const pool = new Pool({ connectionString: database.url, max: 4 });
  // `end` does not wait for the server: dropping the database may still find and terminate its connections.
  pool.on("error", (error) => {
    if (!pool.ending) throw error;
  });
  const openAnother = (storageLimits: StorageLimits = STORAGE_LIMITS, filesUrl?: string) => {
    const store = openStore({ url: database.url, secretKey: SECRET_KEY, log: testLog(), storageLimits, filesUrl });
    stores.push(store);
    return store;
  };
  const store = openAnother();
  const sql: TestStore["sql"] = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows;
  return {
    url: database.url,
    store,
    openAnother,
    sql,
    async newProject() {
      return (await store.projects.ensure(`project-${newId()}`)).project.id;
    },
    async expireLease(ticketId) {
      await sql("UPDATE chats SET lease_until = now() - interval '1 millisecond' WHERE ticket_id = $1", [ticketId]);
    },
    async killInstance(instance) {
      // Deleted instead of backdated: without a process that has been alive for longer, its crash could not be
      // detected.
      await sql("DELETE FROM instances WHERE id = $1", [instance]);
    },
    async close() {
      await Promise.all([...stores.map((open) => open.close()), pool.end()]);
      await database.drop();
    },
  };
}

/** Returns a message as the API channel commits it. */
export function newMessage(change: Partial<NewMessage> = {}): NewMessage {
  return {
    channelId: "api",
    chatId: `chat-${newId()}`,
    userId: null,
    text: "hello",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "async",
    callInstance: null,
    callback: null,
    ...change,
  };
}

/** Returns a text reply. */
export function textReply(text: string): MessageDraft {
  return { type: "message", text, markdown: false };
}

/** Returns the outcome of a run that answered with these texts, with changes. */
export function answeredRun(
  message: ClaimedMessage,
  texts: string[],
  change: Partial<Omit<RunOutcome, "message">> = {},
): RunOutcome & { message: ClaimedMessage } {
  return {
    message,
    state: "answered",
    failure: null,
    stage: "done",
    status: "pending",
    agentId: null,
    confidence: 0.9,
    language: null,
    moves: [],
    trace: {},
    replies: texts.map((text) => ({ item: textReply(text), author: "agent" })),
    draft: null,
    ...change,
  };
}

/** Opens the ticket of a run and finishes the run. Returns null if its lease was lost. */
export async function openAndFinish(store: Store, run: RunOutcome & { message: ClaimedMessage }) {
  await store.tickets.open(run.message.project, run.message).catch((error: unknown) => {
    if (!(error instanceof LeaseLostError)) throw error;
  });
  return store.tickets.finish(run.message.project, run);
}

/** Claims the oldest message of a chat; throws if it cannot. */
export async function claimNow(store: Store, project: ProjectId, ticketId: string): Promise<ClaimedMessage> {
  const claimed = await store.messages.claim(project, ticketId);
  if (claimed === null) throw new Error(`nothing to claim in the chat of ticket ${ticketId}`);
  return claimed;
}

/** Accepts a message and answers it with these texts. */
export async function exchange(
  store: Store,
  project: ProjectId,
  message: NewMessage,
  texts: string[],
): Promise<{ accepted: AcceptedMessage; finished: FinishedRun }> {
  const accepted = await store.messages.accept(project, message);
  const claimed = await claimNow(store, project, accepted.ticketId);
  const finished = await openAndFinish(store, answeredRun(claimed, texts));
  if (finished === null) throw new Error("the lease was lost in the middle of a test");
  return { accepted, finished };
}

/** Retries a dead letter like an operator; returns false if the project has no such dead letter. */
export async function reviveLetter(
  store: Store,
  project: ProjectId,
  messageId: string,
  actor = "operator",
): Promise<boolean> {
  const letter = await store.messages.findDeadLetter(project, messageId);
  if (letter === null) return false;
  const decided = await store.reviews.decide(project, letter.ticketId, ({ ticket }) => ({
    action: "retry",
    actor,
    ticket: { ...ticket, stage: "received" },
    why: "sent again",
    data: {},
    waiting: "revive",
    only: [messageId],
    dropsDraft: false,
    interrupts: true,
    work: null,
    lessons: [],
  }));
  return decided !== null;
}

/** Limits of a response from the buffer, larger than what tests store. */
export const LIMITS = { maxReplies: 100, maxBytes: 8_000_000, keptDays: 7 };

/** Returns the texts of replies in order. */
export function textsOf(replies: readonly ({ type: "message"; text: string } | { type: "attachment" })[]): string[] {
  return replies.map((reply) => (reply.type === "message" ? reply.text : `<${reply.type}>`));
}
