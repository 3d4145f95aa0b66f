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
import { measureEmbedded, measureReplicas, measureStart, measureTools, measureWidget } from "./apps.ts";
import { KEY, startBench } from "./product.ts";
import type { Bench } from "./product.ts";
import { COMPARED_NAMES, measureCompared } from "./compared.ts";
import { measureCounts } from "./counts.ts";
import { measureCustomers } from "./customers.ts";
import type { Variant } from "./floor.ts";
import { measureGoals } from "./goals.ts";
import { measureGrowth } from "./growth.ts";
import { measureLists } from "./lists.ts";
import { measureSearch } from "./search.ts";
import { measureFairness, measureTenants } from "./tenants.ts";

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
