import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { answeredRun, claimNow, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

/** PostgreSQL plans a prepared statement five times before it may keep a plan. */
const TRIED_PLANS = 5;

const clients = new Set<Client>();
const { query } = Client.prototype;
let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
  // Only the connection itself knows its plans.
  Client.prototype.query = function collect(this: Client, ...given: unknown[]) {
    clients.add(this);
    return Reflect.apply(query, this, given);
  } as typeof query;
});
afterAll(async () => {
  Client.prototype.query = query;
  await db.close();
});

test("a message's statements are planned once per connection, not with each message", async () => {
  const project = await db.newProject();
  const message = newMessage();
  for (let count = 0; count < 4 * TRIED_PLANS; count += 1) {
    const { messageId, ticketId } = await db.store.messages.accept(project, message);
    const claimed = await claimNow(db.store, project, ticketId);
    if (count === 0) await db.store.tickets.open(project, claimed);
    await db.store.tickets.finish(project, answeredRun(claimed, ["Yes."]));
    await db.store.replies.endCall(project, messageId);
  }
  const plans = new Map<string, number>();
  for (const client of clients) {
    const { rows } = await client.query<{ name: string; plans: number; runs: number }>(
      `SELECT name, custom_plans::integer AS plans, (custom_plans + generic_plans)::integer AS runs
       FROM pg_prepared_statements WHERE custom_plans + generic_plans > $1`,
      [TRIED_PLANS],
    );
    for (const row of rows) plans.set(row.name, Math.max(row.plans, plans.get(row.name) ?? 0));
  }
  expect(Object.fromEntries(plans)).toMatchObject({
    "messages.accept": TRIED_PLANS,
    "messages.claim": TRIED_PLANS,
    "replies.endCall": TRIED_PLANS,
    "tickets.finish": TRIED_PLANS,
  });
});
