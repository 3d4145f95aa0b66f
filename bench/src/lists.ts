// How long each list of administration takes over HTTP with 1,000 agents and 100,000 tickets.
import { openStore } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { randomFrom } from "@svc/testing";
import pg from "pg";
import { benchLog } from "./product.ts";
import type { BenchOptions, Product } from "./product.ts";
import { load, printFigure } from "./measure.ts";
import type { Load, LoadRequest } from "./measure.ts";
import { pause } from "./processes.ts";
import { wordOfRank } from "./search.ts";

const AGENTS = 1_000;
const KEYS = 200;
const BATCH = 2_000;
const MESSAGES_OF_TICKET = 3;
const WORDS = { vocabulary: 50_000, least: 10, most: 40 };
const CONNECTIONS = 2;
const DAY_MS = 86_400_000;
/** Tickets were begun within this many days. */
const DAYS = 90;

/** Values as common as they are in a project that has run for some months. */
const pickOf =
  (random: () => number) =>
  <Value>(weighted: readonly (readonly [Value, number])[]): Value | undefined => {
    let rest = random() * weighted.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of weighted) if ((rest -= weight) < 0) return value;
    return weighted[0]?.[0];
  };

/** Returns generated text with realistic word frequencies (Zipf's law). */
function textOf(random: () => number) {
  const count = WORDS.least + Math.floor(random() * (WORDS.most - WORDS.least));
  return Array.from({ length: count }, () => wordOfRank(Math.floor(WORDS.vocabulary ** random()) - 1)).join(" ");
}

const STATES: readonly (readonly [readonly [status: string, stage: string], number])[] = [
  [["pending", "done"], 55],
  [["resolved", "done"], 35],
  [["open", "review"], 8],
  [["open", "failed"], 1],
  [["spam", "done"], 1],
];

/** Makes a ticket; `age` is 0 for the oldest one and 1 for one of now. */
function makeTicket(random: () => number, agents: readonly string[], now: number, age: number) {
  const pick = pickOf(random);
  const createdAt = now - (1 - age) * DAYS * DAY_MS;
  const [status, stage] = pick(STATES) ?? [];
  return {
    id: crypto.randomUUID(),
    channel_id: pick([
      ["api", 60],
      ["widget", 35],
      ["messenger", 5],
    ]),
    // One of a thousand, the first ones more often.
    agent_id: agents[Math.floor(AGENTS ** random()) - 1],
    assignee: pick([[null, 90], ...Array.from({ length: 20 }, (_, n) => [`operator-${n}@example.com`, 0.5] as const)]),
    user_id: `user-${Math.floor(random() * 20_000)}`,
    language: pick([
      ["en", 70],
      ["de", 25],
      ["fi", 0.5],
      [null, 4.5],
    ]),
    priority: pick([
      ["normal", 90],
      ["high", 7],
      ["low", 2],
      ["urgent", 1],
    ]),
    tags: pick([
      [[], 80],
      [["billing"], 15],
      [["vip", "billing"], 4],
      [[`t${Math.floor(random() * 500)}`], 1],
    ]),
    status,
    stage,
    created_at: new Date(createdAt),
    updated_at: new Date(createdAt + random() * (now - createdAt)),
    texts: Array.from({ length: MESSAGES_OF_TICKET }, () => textOf(random)),
  };
}

const GIVEN = `FROM jsonb_to_recordset($1::jsonb) AS i (id uuid, channel_id text, agent_id uuid, assignee text,
  user_id text, language text, priority text, tags text[], status text, stage text, created_at timestamptz,
  updated_at timestamptz, texts text[])`;
/** Each gets tickets as JSON and a project. */
const INSERTS = [
  `INSERT INTO tickets (id, home_project_id, project_id, channel_id, chat_id, user_id, subject, status, stage, priority,
         assignee, agent_id, confidence, language, tags, channel_meta, created_at, updated_at, first_reply_at)
       SELECT id, $2, $2, channel_id, 'chat-' || id, user_id, left(texts[1], 120), status, stage, priority, assignee,
         agent_id, 0.7, language, tags, '{"page":{"url":"https://example.com/help","title":"Help"}}', created_at,
         updated_at, created_at + interval '90 seconds' ${GIVEN}`,
  `INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq)
       SELECT id, $2, channel_id, 'chat-' || id, 4 ${GIVEN}`,
  `INSERT INTO messages (id, project_id, ticket_id, seq, user_id, text, timestamp_ms, channel_meta, state, due_at,
         created_at, finished_at)
       SELECT gen_random_uuid(), $2, id, 2 * n - 1, user_id, texts[n], 0, '{}', 'answered', created_at, created_at,
         created_at ${GIVEN} CROSS JOIN generate_series(1, 2) n`,
  `INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown, delivered_at, created_at)
       SELECT gen_random_uuid(), $2, id, 2, 'agent', 'message', texts[3], false, created_at, created_at ${GIVEN}`,
  `INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, at, moves, data, answer_step,
         answer_confidence, answer_agent_id)
       SELECT id, $2, gen_random_uuid(), 'pipeline', created_at, '[]',
         jsonb_build_object('gate', jsonb_build_object('sends', stage = 'done')), (ARRAY['held', 'edit', 'sent'])[n],
         ('x' || left(md5(id::text), 6))::bit(24)::int / 16777215.0, agent_id ${GIVEN}
       CROSS JOIN generate_series(1, 3) n`,
];

/** Puts agents, keys and tickets into a database that has been set up, as if they had come in over the API. */
export async function seedTickets(client: pg.Client, project: string, ticketCount: number) {
  const random = randomFrom(7);
  await client.query(
    `INSERT INTO agents (id, project_id, name, description, examples)
     SELECT gen_random_uuid(), $1, 'agent ' || n, 'Answers questions about ' || n, ARRAY['example ' || n]
     FROM generate_series(1, $2) n`,
    [project, AGENTS],
  );
  await client.query(
    `INSERT INTO api_keys (id, project_id, name, prefix, hash, scopes, created_by)
     SELECT gen_random_uuid(), $1, 'key ' || n, 'svc_' || n, decode(md5('key ' || n), 'hex'), ARRAY['kb:read'], 'bench'
     FROM generate_series(1, $2) n`,
    [project, KEYS],
  );
  const agents = await agentsOf(client, project);
  const now = Date.now();
  for (let from = 0; from < ticketCount; from += BATCH) {
    const tickets = Array.from({ length: Math.min(BATCH, ticketCount - from) }, (_, index) =>
      makeTicket(random, agents, now, (from + index) / ticketCount),
    );
    const json = JSON.stringify(tickets);
    await client.query("BEGIN");
    for (const insert of INSERTS) await client.query(insert, [json, project]);
    await client.query("COMMIT");
  }
}

/** Waits until the pipeline has processed all events; returns how long that took, in seconds. */
export async function untilFollowed(client: pg.Client) {
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await client.query<{ is_done: boolean }>(
      `SELECT settled_id = (SELECT max(id) FROM ticket_events) AND NOT EXISTS (SELECT FROM ticket_text_queue) AS is_done
       FROM ticket_index`,
    );
    if (rows[0]?.is_done === true) return (performance.now() - startedAt) / 1_000;
    await pause(200);
  }
}

interface ListsOptions {
  random: () => number;
  agents: readonly string[];
  cursors: readonly string[];
}

/** The lists that are measured: each makes the query of a request. */
function listsOf({ random, agents, cursors }: ListsOptions): Record<string, () => string> {
  const number = (most: number) => Math.floor(random() * most);
  const rare = () => wordOfRank(5_000 + number(20_000));
  const middling = () => wordOfRank(500 + number(500));
  const frequent = () => wordOfRank(100 + number(20));
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString();
  const tickets = (make: () => Record<string, string>) => () =>
    `/api/v1/admin/tickets?${new URLSearchParams(make()).toString()}`;
  return {
    tickets: tickets(() => ({})),
    "tickets, 200 a page": tickets(() => ({ limit: "200" })),
    "tickets, deep in the list": tickets(() => ({ cursor: cursors[number(cursors.length)] ?? "" })),
    "tickets, sort=createdAt": tickets(() => ({ sort: "createdAt" })),
    "tickets, sort=-priority": tickets(() => ({ sort: "-priority" })),
    "tickets, status=open": tickets(() => ({ status: "open" })),
    "tickets, status=spam": tickets(() => ({ status: "spam" })),
    "tickets, status=resolved, sort=createdAt": tickets(() => ({ status: "resolved", sort: "createdAt" })),
    "tickets, stage=failed": tickets(() => ({ stage: "failed" })),
    "tickets, needsReview, sort=-priority": tickets(() => ({ needsReview: "1", sort: "-priority" })),
    "tickets, channelId=messenger": tickets(() => ({ channelId: "messenger" })),
    "tickets, agentId, busy": tickets(() => ({ agentId: agents[number(5)] ?? "" })),
    "tickets, agentId, quiet": tickets(() => ({ agentId: agents[200 + number(700)] ?? "" })),
    "tickets, assignee": tickets(() => ({ assignee: `operator-${number(20)}@example.com` })),
    "tickets, assignee=none, status=open": tickets(() => ({ assignee: "none", status: "open" })),
    "tickets, priority=urgent": tickets(() => ({ priority: "urgent" })),
    "tickets, tag, frequent": tickets(() => ({ tag: "billing" })),
    "tickets, tag, rare": tickets(() => ({ tag: `t${number(500)}` })),
    "tickets, language=fi": tickets(() => ({ language: "fi" })),
    "tickets, userId": tickets(() => ({ userId: `user-${number(20_000)}` })),
    "tickets, chatId": tickets(() => ({ chatId: `chat-${number(20_000)}` })),
    "tickets, of one day": tickets(() => ({ createdFrom: day(31), createdTo: day(30) })),
    "tickets, nothing found": tickets(() => ({ status: "spam", stage: "review", channelId: "widget", language: "de" })),
    "tickets, few of few": tickets(() => ({ channelId: "messenger", language: "fi", status: "resolved" })),
    "tickets, q rare": tickets(() => ({ q: rare() })),
    "tickets, q middling": tickets(() => ({ q: middling() })),
    "tickets, q frequent": tickets(() => ({ q: frequent() })),
    "tickets, q two frequent, sort=createdAt": tickets(() => ({ q: `${frequent()} ${frequent()}`, sort: "createdAt" })),
    "tickets, q frequent, status=spam": tickets(() => ({ q: frequent(), status: "spam" })),
    "tickets, q one letter": tickets(() => ({ q: "bdk".charAt(number(3)) })),
    "tickets, q three letters": tickets(() => ({ q: middling().slice(0, 3) })),
    "tickets, q of no ticket": tickets(() => ({ q: "zzzzz" })),
    agents: () => "/api/v1/admin/agents",
    "agents, q": () => `/api/v1/admin/agents?q=${number(1_000)}`,
    keys: () => "/api/v1/admin/keys",
  };
}

/** Returns the run with the lowest p99, because other processes of this machine can only make it slower. */
export async function quietestRun(request: LoadRequest, { runs, seconds }: BenchOptions): Promise<Load> {
  const all: Load[] = [];
  for (let run = 0; run < runs; run += 1) all.push(await load(request, seconds));
  return all.reduce((best, one) => (one.p99 < best.p99 ? one : best));
}

const agentsOf = async (client: pg.Client, project: string) =>
  (await client.query<{ id: string }>("SELECT id FROM agents WHERE project_id = $1 ORDER BY id", [project])).rows.map(
    ({ id }) => id,
  );

type ListQuery = Partial<Parameters<ReturnType<typeof openStore>["ticketList"]["listPage"]>[1]>;

/** Prints the plans of the statements that a store sends for a list. */
async function explain(
  client: pg.Client,
  databaseUrl: string,
  project: ProjectId,
  [title, query]: [string, ListQuery],
) {
  const sent: pg.QueryConfig[] = [];
  const send = Reflect.get(pg.Client.prototype, "query") as (...args: unknown[]) => unknown;
  function noteQuery(this: unknown, ...args: unknown[]) {
    const [config] = args as [pg.QueryConfig | string | undefined];
    if (typeof config === "object" && typeof config.text === "string") sent.push(config);
    return send.apply(this, args);
  }
  Object.assign(pg.Client.prototype, { query: noteQuery });
  const store = openStore({ url: databaseUrl, secretKey: "a benchmark seals nothing 0123456789", log: benchLog });
  try {
    await store.ticketList.listPage(project, {
      limit: 50,
      sort: "-updatedAt",
      words: null,
      after: undefined,
      ...query,
    });
  } finally {
    Object.assign(pg.Client.prototype, { query: send });
    await store.close();
  }
  for (const { text, values } of sent) {
    const { rows } = await client.query<Record<string, string>>(
      `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${text}`,
      values,
    );
    // Ids that were looked up before are given by the hundred.
    const plan = rows.map((row) => row["QUERY PLAN"]?.replaceAll(/\{[^{},]+,[^{}]+\}/g, "{…}"));
    console.log(`\n-- ${title}\n${plan.join("\n")}`);
  }
}

/** Returns cursors from the beginning of the list of tickets to deep in it. */
async function readCursors(url: string, headers: Record<string, string>): Promise<string[]> {
  const cursors: string[] = [];
  while (cursors.length < 100) {
    const response = await fetch(`${url}/api/v1/admin/tickets?limit=200&cursor=${cursors.at(-1) ?? ""}`, { headers });
    cursors.push(((await response.json()) as { nextCursor: string }).nextCursor);
  }
  return cursors;
}

/** Fills a product and measures its lists; with `explains` the plans of the most important ones are printed too. */
export async function measureLists({ urlsOf, databaseUrl }: Product, key: string, options: BenchOptions) {
  const [url = ""] = urlsOf("api");
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: ProjectId }>("SELECT id FROM projects WHERE name = 'default'");
    const project = rows[0]?.id;
    if (project === undefined) throw new Error("there is no default project");
    await seedTickets(client, project, options.tickets);
    const took = await untilFollowed(client);
    printFigure(`${options.tickets} tickets followed and indexed`, `${took.toFixed(0)} s`);
    // PostgreSQL does this by itself within a minute.
    await client.query("VACUUM ANALYZE");
    const headers = { authorization: `Bearer ${key}` };
    const agents = await agentsOf(client, project);
    const lists = listsOf({ random: randomFrom(11), agents, cursors: await readCursors(url, headers) });
    const requestOf = (path: LoadRequest["path"], connections: number): LoadRequest => {
      return { url, path, method: "GET", headers, body: "", connections };
    };
    for (const [name, path] of Object.entries(lists)) {
      const request = requestOf(path, CONNECTIONS);
      await load(request, 0.5);
      const { p50, p99, perSecond, bad } = await quietestRun(request, options);
      const times = `p50 ${p50.toFixed(1).padStart(5)} ms  p99 ${p99.toFixed(1).padStart(5)} ms`;
      printFigure(name, `${times}  ${perSecond.toFixed(0).padStart(5)}/s`, { bad });
    }
    const stats = "/api/v1/admin/stats";
    for (const path of [
      stats,
      `${stats}?channelId=api`,
      `${stats}/answers`,
      `${stats}/answers?channelId=api`,
      `${stats}/report`,
    ]) {
      const { p50, p99 } = await quietestRun(requestOf(path, 1), options);
      printFigure(path, `p50 ${p50.toFixed(0)} ms  p99 ${p99.toFixed(0)} ms`);
    }
    if (!options.explains) return;
    const search = (...all: string[]) => ({
      text: all.join(" "),
      words: all.slice(0, -1),
      beginning: all.at(-1) ?? null,
    });
    const rare = search(wordOfRank(7_000));
    const common = search(wordOfRank(100), wordOfRank(101));
    const explained: [string, ListQuery][] = [
      ["GET /api/v1/admin/tickets", {}],
      ["GET /api/v1/admin/tickets?language=fi", { language: "fi" }],
      ["GET /api/v1/admin/tickets?q=<a rare word>", { words: rare }],
      ["GET /api/v1/admin/tickets?q=<two frequent words>", { words: common }],
    ];
    for (const one of explained) await explain(client, databaseUrl, project, one);
  } finally {
    await client.end();
  }
}
