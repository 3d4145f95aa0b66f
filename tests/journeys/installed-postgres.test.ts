import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  findBundledPostgres,
  findInstalledPostgres,
  findPgBouncer,
  migrateTestDatabase,
  startInstalledPostgres,
  startPgBouncer,
  startWebhookReceiver,
  waitFor,
  queryDatabase,
} from "@svc/testing";
import type { InstalledPostgres, WebhookReceiver } from "@svc/testing";
import { createApiClient } from "./support/create-api-client.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const installed = await findInstalledPostgres();
const bundled = await findBundledPostgres();
const hasPooler = (await findPgBouncer()) !== null;

/** The log is a file, so that plans of several processes are not interleaved; the test runs ANALYZE itself. */
const EXPLAINING = {
  shared_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "-1",
  "auto_explain.log_format": "json",
  // Shows whether a plan is for parameters or for their values.
  "auto_explain.log_verbose": "on",
  logging_collector: "on",
  log_directory: "log",
  log_filename: "server.log",
  autovacuum: "off",
};

/** A tenth of the default cost at which PostgreSQL compiles a statement; a scan of all messages costs more. */
const MAX_COST = 10_000;
/** Limit of the expected rows of a plan step; a step beyond it scans whole tables. */
const MAX_ROWS = 10_000;
/** PostgreSQL up to 17 adds this cost to each scan that `enable_seqscan=off` cannot avoid. It is not actual work. */
const DISABLED_COST = 1e10;

/** 100,000 messages in 50,000 chats of the project `default`, with replies and tickets. */
const SEED = `
  CREATE TEMPORARY TABLE seed AS SELECT gen_random_uuid() AS ticket_id, p.id AS project_id, n
    FROM projects p CROSS JOIN generate_series(1, 50000) n WHERE p.name = 'default';
  INSERT INTO tickets (id, home_project_id, project_id, channel_id, chat_id, subject, status, stage)
    SELECT ticket_id, project_id, project_id, 'api', 'seed-' || n, 'seed', 'resolved', 'done' FROM seed;
  INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq)
    SELECT ticket_id, project_id, 'api', 'seed-' || n, 4 FROM seed;
  INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, state, due_at, finished_at)
    SELECT gen_random_uuid(), project_id, ticket_id, 2 * i - 1, 'What is a drain?', 0, '{}', 'answered', now(), now()
    FROM seed CROSS JOIN generate_series(1, 2) i;
  INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown, delivered_at)
    SELECT gen_random_uuid(), project_id, ticket_id, 2, 'agent', 'message', 'An answer.', false, now() FROM seed`;

/** A statement of this test that costs more than the limit, on a connection with the server's defaults. */
const COMPARISON = "SELECT count(*) AS comparison FROM messages CROSS JOIN generate_series(1, 120)";

interface Plan {
  "Total Cost": number;
  "Plan Rows": number;
  Plans?: Plan[];
}

interface Explained {
  "Query Text": string;
  Plan: Plan;
  JIT?: unknown;
}

/** Returns the plans that auto_explain has logged since an offset in the log. */
async function readPlans(server: InstalledPostgres, offset = 0): Promise<{ plans: Explained[]; end: number }> {
  const text = await readFile(join(server.dataDir, "log", "server.log"), "utf8");
  const found = text.slice(offset).matchAll(/duration: [\d.]+ ms {2}plan:\n((?:\t[^\n]*\n)+)/g);
  const plans = [...found].map(([, json = ""]) => JSON.parse(json.replaceAll(/^\t/gm, "")) as Explained);
  return { plans, end: text.length };
}

const rowsOf = ({ "Plan Rows": rows, Plans: plans = [] }: Plan): number => Math.max(rows, ...plans.map(rowsOf));

/** Describes each statement that PostgreSQL compiled, or whose plan costs too much or reads too many rows. */
const findExpensive = (explained: Explained[]): string[] =>
  explained.flatMap(({ "Query Text": text, Plan: plan, JIT: jit }) => {
    const [cost, rows] = [plan["Total Cost"] % DISABLED_COST, rowsOf(plan)];
    if (cost <= MAX_COST && rows <= MAX_ROWS && jit === undefined) return [];
    return [`cost ${cost}, ${rows} rows, ${jit === undefined ? "planned" : "compiled"}: ${text}`];
  });

/** Parts of statements of the message path, which have arrays of many sizes. */
const SHARED_STATEMENTS = [
  "INSERT INTO messages AS m",
  "INSERT INTO tickets AS t",
  "SELECT i.place FROM unnest",
  "SET call_ended_at = now()",
];
/** PostgreSQL plans a named statement for its values five times on each connection before it may keep a plan. */
const MESSAGES_UNTIL_KEPT = 12;

/**
 * Returns those of these statements that have no plan for parameters, or one that expects more than a row of its
 * arrays: PostgreSQL would then plan the statement again for each array of one row.
 */
function findPlannedAgain(explained: Explained[]): string[] {
  return SHARED_STATEMENTS.filter((part) => {
    const plans = explained
      .filter(({ "Query Text": text }) => text.includes(part))
      .map(({ Plan: plan }) => JSON.stringify(plan))
      .filter((plan) => plan.includes("unnest($1"));
    return plans.length === 0 || plans.some((plan) => /"Function Scan"[^{}]*"Plan Rows":(?!1,)/.test(plan));
  });
}

const SERVERS = [
  { name: "the oldest PostgreSQL that is installed", binDir: installed, isPooled: false },
  {
    name: "the oldest one, behind a PgBouncer in transaction mode",
    binDir: hasPooler ? installed : null,
    isPooled: true,
  },
  { name: "the newest PostgreSQL, which the product brings along", binDir: bundled, isPooled: false },
];

describe.each(SERVERS)("with PostgreSQL's default settings (JIT on) and 100,000 messages, on $name", (given) => {
  const { binDir, isPooled } = given;
  if (binDir === null) {
    test.skip("is not installed", () => undefined);
    return;
  }
  let server: InstalledPostgres;
  let product: Product;
  let receiver: WebhookReceiver;
  let end = 0;

  beforeAll(async () => {
    server = await startInstalledPostgres(binDir, EXPLAINING);
    await migrateTestDatabase(server.url);
    const pooler = isPooled ? await startPgBouncer(server.url, { pool_mode: "transaction" }) : null;
    receiver = await startWebhookReceiver();
    const ground = {
      databaseUrl: pooler?.url ?? server.url,
      prefix: "svc-installed",
      async remove() {
        await pooler?.stop();
        await server.stop();
      },
    };
    product = await startProduct({ composition: "standalone", ground, env: { DATABASE_DIRECT_URL: server.url } });
    await queryDatabase(server.url, SEED);
    await queryDatabase(server.url, "ALTER SYSTEM SET auto_explain.log_min_duration = 0");
    await queryDatabase(server.url, "SELECT pg_reload_conf()");
  });

  afterAll(async () => {
    await product?.stop();
    await receiver?.close();
  });

  /** Waits until the log contains a text; it is written slightly after the statements. */
  const untilLogged = (text: string) =>
    waitFor(
      async () => {
        const read = await readPlans(server, end);
        return read.plans.some((plan) => plan["Query Text"].includes(text)) && read;
      },
      { what: `the plan of ${text}` },
    );

  test.each(["before", "after"])("no plan is expensive and none is compiled %s ANALYZE", async (when) => {
    if (when === "after") await queryDatabase(server.url, "ANALYZE");
    const api = createApiClient(product);
    for (const chatId of ["seed-7", `new-${when}`]) {
      const sync = await api.send("default", { text: "What is a drain?", chatId });
      expect([200, 202]).toContain(sync.status);
    }
    for (let sent = 0; sent < MESSAGES_UNTIL_KEPT; sent += 1) {
      expect((await api.send("default", { text: "Thanks!", chatId: `new-${when}` })).status).toBeLessThan(300);
      expect((await api.drain("default", `new-${when}`)).replies).toEqual([]);
    }
    const accepted = await api.send("default", { text: "What is a drain?", chatId: `async-${when}`, mode: "async" });
    expect(accepted.status).toBe(202);
    expect((await api.drain("default", `async-${when}`, "?wait=30000")).replies.length).toBeGreaterThan(0);
    await api.send("default", { text: "What is a drain?", chatId: `hook-${when}`, webhookUrl: receiver.url() });
    await receiver.next();
    const read = await untilLogged("INSERT INTO messages");
    ({ end } = read);
    expect(findExpensive(read.plans)).toEqual([]);
    // Behind a pooler, statements have no names and are planned each time.
    if (!isPooled) expect(findPlannedAgain(read.plans)).toEqual([]);
  });

  test("the check detects an expensive statement, compiled if the server can compile", async () => {
    const [jit] = await queryDatabase<{ available: boolean }>(server.url, "SELECT pg_jit_available() AS available");
    await queryDatabase(server.url, COMPARISON);
    const { plans } = await untilLogged("AS comparison");
    const how = jit?.available === true ? "compiled" : "planned";
    expect(findExpensive(plans)).toContainEqual(expect.stringMatching(new RegExp(`${how}: .*AS comparison`)));
  });
});
