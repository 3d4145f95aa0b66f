import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { METRICS } from "./metric-list.ts";
import type { MetricDeclaration, MetricName } from "./metric-list.ts";

/** Stands for all values beyond the first ones. */
export const OTHER = "other";

/**
 * Returns a function that passes the first `max` values and replaces later ones with `other`: for labels with
 * user-defined values, such as model names.
 */
export function fewValues(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}

type NamesOf<Kind extends MetricDeclaration["kind"]> = {
  [Name in MetricName]: (typeof METRICS)[Name]["kind"] extends Kind ? Name : never;
}[MetricName];
type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]["labels"][number], string>>;

/** Resolution of the event loop delay: a finer one would wake up an idle process more often. */
const LOOP_PRECISION_MS = 20;
/** Timeout of a collector, after which the other metrics are returned without it. */
const GATHER_LIMIT_MS = 2_000;

const registry = new Registry();
const counters = new Map<string, Counter>();
const gauges = new Map<string, Gauge>();
const histograms = new Map<string, Histogram>();

const MAKERS = {
  counter: (name, { help, labels }) =>
    counters.set(name, new Counter({ name, help, labelNames: [...labels], registers: [registry] })),
  gauge: (name, { help, labels }) =>
    gauges.set(name, new Gauge({ name, help, labelNames: [...labels], registers: [registry] })),
  histogram: (name, { help, labels, buckets = [] }) =>
    histograms.set(
      name,
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [registry] }),
    ),
} satisfies Record<MetricDeclaration["kind"], (name: string, declaration: MetricDeclaration) => unknown>;

for (const [name, declaration] of Object.entries(METRICS)) MAKERS[declaration.kind](name, declaration);

/** Adds to a counter. */
export function count<Name extends NamesOf<"counter">>(name: Name, labels: LabelsOf<Name>, by = 1): void {
  counters.get(name)?.inc(labels, by);
}

/** Adds a value to a histogram, in the unit of its name. */
export function observe<Name extends NamesOf<"histogram">>(name: Name, labels: LabelsOf<Name>, value: number): void {
  histograms.get(name)?.observe(labels, value);
}

/** Sets the value of a gauge. */
export function setGauge<Name extends NamesOf<"gauge">>(name: Name, labels: LabelsOf<Name>, value: number): void {
  gauges.get(name)?.set(labels, value);
}

/** Adds to the value of a gauge; negative numbers subtract. */
export function addToGauge<Name extends NamesOf<"gauge">>(name: Name, labels: LabelsOf<Name>, by: number): void {
  gauges.get(name)?.inc(labels, by);
}

/** Hides a gauge until it is set again, instead of showing an outdated value. */
export function clearGauge(name: NamesOf<"gauge">): void {
  gauges.get(name)?.reset();
}

/** Functions that collect metrics on demand. */
const gatherers = new Set<() => Promise<void>>();
let isWatchingNode = false;

/**
 * Calls `gather` before the metrics are returned, until the returned function is called. `gather` handles its own
 * errors.
 */
export function beforeScrape(gather: () => Promise<void>): () => void {
  gatherers.add(gather);
  return () => gatherers.delete(gather);
}

/** Content type of `metricsText`. */
export const METRICS_TYPE = registry.contentType;

/**
 * Returns the metrics of this process in the Prometheus format. If a collector fails or is slow, its metrics are
 * missing or outdated; this never rejects because of it. Node.js metrics are collected from the first call on.
 */
export async function metricsText(): Promise<string> {
  if (!isWatchingNode) {
    isWatchingNode = true;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
  }
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GATHER_LIMIT_MS);
  });
  await Promise.race([Promise.allSettled([...gatherers].map((gather) => gather())), limit]);
  clearTimeout(timer);
  return registry.metrics();
}
