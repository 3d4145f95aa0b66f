import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ClaimedMessage, ProjectId, Store } from "@svc/store";
import { waitFor } from "@svc/testing";
import { Client } from "pg";
import { answeredRun, claimNow, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let store: Store;

beforeAll(async () => {
  db = await openTestStore();
  // The statement itself must ensure the order, not the chosen plan: with many chats and without an index, the planner
  // uses a sequential scan.
  await db.sql(
    `INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq)
     SELECT gen_random_uuid(), gen_random_uuid(), 'api', 'idle ' || n, 1 FROM generate_series(1, 2000) AS n`,
  );
  for (const setting of ["enable_nestloop", "enable_mergejoin", "enable_indexscan", "enable_bitmapscan"]) {
    await db.sql(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting} = off', current_database()); END $$`);
  }
  store = db.openAnother();
});

afterAll(async () => {
  await db.close();
});

const CHATS = 80;

/** Statements that lock the rows of many chats, with whether they work on leased chats. */
const STATEMENTS: Record<
  string,
  { isLeased: boolean; run: (project: ProjectId, chatIds: string[], claimed: ClaimedMessage[]) => Promise<unknown>[] }
> = {
  "accepting messages": {
    isLeased: false,
    run: (project, chatIds) => chatIds.map((chatId) => store.messages.accept(project, newMessage({ chatId }))),
  },
  "claiming messages": {
    isLeased: false,
    run: (project, _, claimed) => claimed.map(({ ticketId }) => store.messages.claim(project, ticketId)),
  },
  "renewing leases": { isLeased: true, run: (_project, _, claimed) => [store.chats.renewLeases(claimed)] },
  "finishing runs": {
    isLeased: true,
    run: (project, _, claimed) =>
      claimed.map((message) => store.tickets.finish(project, answeredRun(message, ["answer"]))),
  },
};

for (const [what, { isLeased, run }] of Object.entries(STATEMENTS)) {
  // Two statements that lock the same chats in different orders can deadlock.
  test(`${what} of many chats at once locks the chats in the order of their ids`, async () => {
    const project = await db.newProject();
    const chatIds = Array.from({ length: CHATS }, (_, index) => `${what} ${index}`);
    const claimed = await Promise.all(
      chatIds.map(async (chatId) => {
        const { ticketId } = await store.messages.accept(project, newMessage({ chatId }));
        const message = await claimNow(store, project, ticketId);
        await store.tickets.open(project, message);
        return message;
      }),
    );
    if (!isLeased) await Promise.all(claimed.map((lease) => store.chats.releaseLease(lease)));
    // Rows are stored in the order of insertion, which was that of the ids so far. The leases are long enough for a
    // machine that pauses in between.
    await db.sql(
      `WITH gone AS (DELETE FROM chats WHERE project_id = $1 RETURNING *)
       INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq, lease_id, lease_until)
       SELECT ticket_id, project_id, channel_id, chat_id, last_seq, lease_id, lease_until + interval '1 hour'
       FROM gone ORDER BY ticket_id DESC`,
      [project],
    );
    await db.sql("ANALYZE chats");

    const ticketIds = claimed.map(({ ticketId }) => ticketId).toSorted();
    const client = new Client({ connectionString: db.url });
    await client.connect();
    let running: Promise<unknown>[] = [];
    try {
      await client.query("BEGIN");
      await client.query("SELECT 1 FROM chats WHERE ticket_id = $1 FOR UPDATE", [ticketIds[0]]);
      running = run(project, chatIds, claimed);
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await waitFor(async () => (await db.sql(waiting)).length > 0, {
        what: "the statement to wait for the first chat",
      });
      const free = await db.sql("SELECT 1 FROM chats WHERE ticket_id = ANY ($1) FOR UPDATE SKIP LOCKED", [ticketIds]);
      expect(free.length).toBe(CHATS - 1);
    } finally {
      await client.end();
      await Promise.all(running);
    }
  });
}
