// The figures that have goals, as one table: ratios to the fast variant of a comparison program, and the product by itself.
import { POST, answerFixed, asyncPost } from "./product.ts";
import type { Bench } from "./product.ts";
import { measureEmbedded } from "./apps.ts";
import { measureCallbacks } from "./callbacks.ts";
import { compare, compareEndToEnd, runOf, withPrograms } from "./compared.ts";
import type { Floor, Programs } from "./compared.ts";
import { measureCounts } from "./counts.ts";
import { loadOf } from "./measure.ts";

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
export async function measureGoals(bench: Bench, floor: Floor) {
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
