// `npm run bench`: the product as separate processes on Redis and PostgreSQL, and as the embedded default.
//   npm run bench -- [--seconds 5] [--runs 3] [--warm-up 0] [--connections 1,16,64,256] [--messages 20000]
//                    [--only sync,async,end,drain,limit,callbacks,replicas,widget,mcp,start,search,lists,customers,embedded,counts,
//                           fairness,tenants,growth]
//                    [--floor FOLDER] [--variant 'fast: DB=batch REPLY=stream CONCURRENCY=100']
//                    [--sizes 1000,10000,100000] [--tickets 100000] [--minutes 20] [--rate 20]
//                    [--rows 100000,1000000] [--explain]
//                    [--profile FOLDER]
// --warm-up is for how many seconds each program does sync calls of 64 connections before anything is measured: a process
// that has just started compiles what it runs, and the more code there is, the longer.
// --floor names a folder with a comparison program (api.mjs, worker.mjs, schema.sql): it is measured in turns with the
// product, with the same load; each --variant adds one more of it, with these settings. Without --only, everything that has
// a goal is measured against its fast variant, after 20 s of warm-up, and printed as one table, in about ten minutes.
// --messages are those that are sent and collected (end), or sent by one project at once (fairness). --minutes and --rate,
// in calls per second, are of 1,000 projects (tenants). --sizes are passages of the knowledge bases that are searched,
// --tickets those of the project whose lists are asked for, and --explain prints how PostgreSQL reads them. --profile makes
// the apps write CPU profiles. --rows are messages in the database while the statements of the store are timed (growth).
// tenants and growth only run if they are named.
// Needs redis-server in the PATH.
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { randomFrom } from "@svc/testing";
import { measureEmbedded, measureReplicas, measureStart, measureTools, measureWidget } from "./apps.ts";
import { measureCallbacks } from "./callbacks.ts";
import { compare, COMPARED_NAMES, compareEndToEnd, measureCompared, runOf, withPrograms } from "./compared.ts";
import type { Floor, Programs } from "./compared.ts";
import { measureCounts } from "./counts.ts";
import { measureGrowth } from "./growth.ts";
import { measureLists, quietestRun } from "./lists.ts";
import { load, loadOf, printFigure } from "./measure.ts";
import type { Variant } from "./processes.ts";
import { answerFixed, asyncPost, KEY, POST, startBench } from "./product.ts";
import type { Bench } from "./product.ts";
import { measureSearch, wordOfRank } from "./search.ts";
import { measureFairness, measureTenants } from "./tenants.ts";

// How long the list and the search of customers take over HTTP with 100,000 customers in one project.
const CUSTOMERS = 100_000;
const NAMES = 5_000;
const CUSTOMER_CONNECTIONS = 2;

/** Customers with two names of some thousand, an address, a number and two attributes, seen within 90 days. */
const INSERT = `WITH made AS (
    INSERT INTO customers (id, project_id, alias, name, email, phone, external_id, attributes, first_seen_at, last_seen_at)
    SELECT gen_random_uuid(), p.id, 'Quiet Otter', initcap(first || ' ' || last), first || '.' || last || n || '@example.org',
      '+49 30 ' || n, 'user-' || n, jsonb_build_object('plan', (ARRAY['free', 'pro', 'team'])[n % 3 + 1], 'seats', n % 50),
      now() - interval '90 days', now() - random() * interval '90 days'
    FROM projects p CROSS JOIN generate_series(1, $2) AS n
    CROSS JOIN LATERAL (SELECT $1::text[] AS names) AS w
    CROSS JOIN LATERAL (SELECT names[n * 7 % ${NAMES} + 1] AS first, names[n * 31 % ${NAMES} + 1] AS last) AS pair
    WHERE p.name = 'default' RETURNING id, project_id, external_id
  )
  INSERT INTO customer_identities (project_id, kind, value, customer_id)
  SELECT project_id, 'user', external_id, id FROM made`;

/** Fills a product with customers, and measures what people look for in them. */
const measureCustomers = (bench: Bench) =>
  bench.withProduct("customers", { prepareStore: async () => undefined }, async ({ urlsOf, databaseUrl }) => {
    const [url = ""] = urlsOf("api");
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const names = Array.from({ length: NAMES }, (_, rank) => wordOfRank(rank));
      await client.query(INSERT, [names, CUSTOMERS]);
      await client.query("VACUUM ANALYZE");
    } finally {
      await client.end();
    }
    const random = randomFrom(5);
    const name = () => wordOfRank(Math.floor(random() * NAMES));
    const number = () => 1 + Math.floor(random() * CUSTOMERS);
    const searches: Record<string, () => string> = {
      name: name,
      "first and last name": () => `${name()} ${name()}`,
      "part of an address": () => `${number()}@example`,
      "external ID": () => `user-${number()}`,
      attribute: () => `"seats": ${number() % 50}`,
      "two letters": () => name().slice(0, 2),
      "no customer": () => "zzzzz",
    };
    const pages: Record<string, () => string> = {
      customers: () => "",
      ...Object.fromEntries(
        Object.entries(searches).map(([what, q]) => [
          `customers, q ${what}`,
          () => `?${new URLSearchParams({ q: q() }).toString()}`,
        ]),
      ),
    };
    for (const [what, query] of Object.entries(pages)) {
      const request = {
        url,
        path: () => `/api/v1/admin/customers${query()}`,
        method: "GET" as const,
        headers: { authorization: `Bearer ${KEY}` },
        body: "",
        connections: CUSTOMER_CONNECTIONS,
      };
      await load(request, 0.5);
      const { p50, p99, bad } = await quietestRun(request, bench.options);
      printFigure(what, `p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms`, { bad });
    }
  });

// The figures that have goals, as one table: ratios to the fast variant of a comparison program, and the product by itself.

/** A row of the table: what is measured, its figures, and the goals. */
type Row = readonly [name: string, found: string, goal: string];

const CONNECTIONS = 64;
/** Messages that are sent and collected: some seconds of work for either program. */
const COLLECTED = 5_000;

const ratio = (value: number | undefined) => (value ?? NaN).toFixed(2);

/** Returns the rows that compare the product with the floor. */
async function compareWithFloor(programs: Programs): Promise<Row[]> {
  const syncOver = (connections: number) =>
    compare(
      `sync, ${connections} connections`,
      programs,
      runOf(() => ({ ...POST, connections })),
    );
  const asyncOver = (connections: number) =>
    compare(
      `async POST, ${connections} connections`,
      programs,
      runOf(() => ({ ...asyncPost(), connections })),
    );
  const [many] = await syncOver(CONNECTIONS);
  const [one] = await syncOver(1);
  const [posted] = await asyncOver(CONNECTIONS);
  const [postedAlone] = await asyncOver(1);
  const [collected] = await compareEndToEnd(programs, COLLECTED);
  return [
    [
      "sync at 64: rate / p99 / CPU",
      `${ratio(many?.rate)} / ${ratio(many?.p99)} / ${ratio(many?.cpu)}`,
      "≥ .50 / ≤ 2.0 / ≤ 2.0",
    ],
    ["sync at 1: p50 / CPU", `${ratio(one?.p50)} / ${ratio(one?.cpu)}`, "≤ 2.0 / ≤ 2.0"],
    ["async POST at 64 / at 1: rate", `${ratio(posted?.rate)} / ${ratio(postedAlone?.rate)}`, "≥ .60 / ≥ .45"],
    ["sent and collected: rate", ratio(collected?.rate), "≥ .50"],
  ];
}

/** Returns the rows that measure two compositions of the product in turns, and that of the callbacks. */
async function compareCompositions({ bench, product }: Programs) {
  const { servers, options, measureAll, withProduct } = bench;
  const single = loadOf(
    "1 × api, 1 × pipeline, sync",
    { ...product.groups, ...servers },
    { ...POST, url: product.url, connections: CONNECTIONS },
  );
  const apps = { api: 2, pipeline: 2 };
  const replicas = await withProduct("twice", { prepareStore: answerFixed, apps }, async ({ groups, urlsOf }) => {
    const request = { ...POST, urls: urlsOf("api"), connections: CONNECTIONS };
    const twice = loadOf("2 × api, 2 × pipeline, sync", { ...groups, ...servers }, request);
    const [comparison] = await measureAll([single, { ...twice, relativeTo: [single] }]);
    return comparison?.rate;
  });
  const { idleShare, rate: embedded } = await measureEmbedded(bench, single);
  const [callbacks = NaN] = await measureCallbacks({
    request: { ...POST, url: product.url, connections: CONNECTIONS },
    groups: { ...product.groups, ...servers },
    inFlight: [CONNECTIONS],
    connections: CONNECTIONS,
    runs: options.runs,
    seconds: options.seconds,
    isShort: true,
  });
  return { replicas, embedded, idleShare, callbacks };
}

/** Measures everything that has a goal, in some ten minutes, and prints one table. Needs the fast variant alone. */
async function measureGoals(bench: Bench, floor: Floor) {
  const counts = await measureCounts(bench);
  const rows = await withPrograms(bench, floor, async (programs): Promise<Row[]> => {
    const ratios = await compareWithFloor(programs);
    const { replicas, embedded, idleShare, callbacks } = await compareCompositions(programs);
    const { statements, transactions } = counts.sync;
    return [
      ...ratios,
      [
        "statements (transactions) for a sync message with retrieval",
        `${statements.toFixed(1)} (${transactions.toFixed(1)})`,
        "≤ 8 (≤ 5)",
      ],
      [
        "idle: statements + Redis commands a second, six processes; CPU of the embedded product",
        `${counts.idlePerSecond.toFixed(1)}; ${(idleShare * 100).toFixed(2)} %`,
        "≤ 15; ≤ 1.0 %",
      ],
      ["replicas 2×2 on the same cores, against 1×1", ratio(replicas), "≥ .90"],
      ["1 process embedded, sync at 64, against separate processes on Redis", ratio(embedded), "≥ .70"],
      ["callbacks a second with 64 in flight", callbacks.toFixed(0), "≥ 400"],
    ];
  });
  console.log("\n| Ratio to the fast floor in the same run, warm | Measured | To reach |\n| --- | --- | --- |");
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}

/** Further measurements, made one after the other after the comparisons. */
const OTHERS: Record<string, (bench: Bench) => Promise<unknown>> = {
  replicas: measureReplicas,
  widget: measureWidget,
  mcp: measureTools,
  start: measureStart,
  search: measureSearch,
  lists: (bench) =>
    bench.withProduct("lists", { prepareStore: async () => undefined }, (product) =>
      measureLists(product, KEY, bench.options),
    ),
  customers: measureCustomers,
  embedded: (bench) => measureEmbedded(bench),
  counts: measureCounts,
  fairness: measureFairness,
  tenants: measureTenants,
  growth: measureGrowth,
};
/** Take minutes and gigabytes, so they run only if named. */
const ONLY_BY_NAME = ["tenants", "growth"];
/** Warm-up before figures with goals, so that both programs have compiled their hot code. */
const GOALS_WARM_UP_SECONDS = 20;
/** The comparison program at its best, whose ratios have goals. */
const FAST: Variant = { name: "fast", settings: { DB: "batch", REPLY: "stream", CONCURRENCY: "100" } };
const FIGURES = [...COMPARED_NAMES, ...Object.keys(OTHERS)];

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    runs: { type: "string", default: "3" },
    "warm-up": { type: "string" },
    connections: { type: "string", default: "1,16,64,256" },
    messages: { type: "string", default: "20000" },
    floor: { type: "string" },
    variant: { type: "string", multiple: true, default: [] },
    only: { type: "string" },
    sizes: { type: "string", default: "1000,10000,100000" },
    tickets: { type: "string", default: "100000" },
    minutes: { type: "string", default: "20" },
    rate: { type: "string", default: "20" },
    rows: { type: "string", default: "100000,1000000" },
    explain: { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
if (values.floor !== undefined && !existsSync(join(values.floor, "api.mjs")))
  throw new Error(`--floor is "${values.floor}"; it is a folder with api.mjs, worker.mjs and schema.sql`);
/** Without `--only`, a comparison program is used only for the figures with goals. */
const hasGoals = values.floor !== undefined && values.only === undefined;
const numbersOf = (text: string) => text.split(",").map(Number);
const options = {
  seconds: Number(values.seconds),
  runs: Number(values.runs),
  warmUpSeconds: Number(values["warm-up"] ?? (hasGoals ? GOALS_WARM_UP_SECONDS : 0)),
  connections: numbersOf(values.connections),
  messages: Number(values.messages),
  sizes: numbersOf(values.sizes),
  tickets: Number(values.tickets),
  minutes: Number(values.minutes),
  rate: Number(values.rate),
  rows: numbersOf(values.rows),
  explains: values.explain,
  profile: values.profile,
};
/** The floor as it is by default, and in other variants: each a name and its environment. */
const variants: Variant[] = [
  { name: "plain", settings: {} },
  ...values.variant.map((text) => {
    const [, name, settings] = /^(\w+): *(.+)$/.exec(text) ?? [];
    if (name === undefined || settings === undefined)
      throw new Error("--variant is a name, a colon and settings, as in 'fast: DB=batch'");
    return {
      name,
      settings: Object.fromEntries(settings.split(/ +/).map((setting) => setting.split("="))) as Variant["settings"],
    };
  }),
];

const byDefault = hasGoals ? [] : FIGURES.filter((name) => !ONLY_BY_NAME.includes(name));
const wanted = values.only?.split(",") ?? byDefault;
const bench = await startBench(options);
// On an interrupt, stops its servers; its other children end with it.
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => void bench.close().finally(() => process.exit(1)));
try {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node.js ${process.versions.node}`;
  console.log(`${machine}, ${options.runs} runs of ${options.seconds} s: the median [slowest-fastest]\n`);
  const compared = COMPARED_NAMES.filter((name) => wanted.includes(name));
  const floor = values.floor === undefined ? undefined : { folder: values.floor, variants };
  if (hasGoals && floor !== undefined) await measureGoals(bench, { ...floor, variants: [FAST] });
  if (compared.length > 0) await measureCompared(bench, compared, floor);
  for (const [name, measureFigure] of Object.entries(OTHERS)) if (wanted.includes(name)) await measureFigure(bench);
} finally {
  await bench.close();
}
