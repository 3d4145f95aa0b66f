import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { METRICS } from "./metric-list.ts";
import type { MetricDeclaration, MetricName } from "./metric-list.ts";

/** What stands for all values beyond the first ones. */
export const OTHER = "other";

/**
 * Makes a function that lets the first `max` values through and answers `other` for those that come later: for labels whose
 * values people choose, such as the names of models.
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

/** How exactly the delay of the event loop is looked at: a finer look wakes an idle process more often. */
const LOOP_PRECISION_MS = 20;
/** What gathers figures has so long; without it the others are shown all the same. */
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

/** Sets what a gauge shows. */
export function setGauge<Name extends NamesOf<"gauge">>(name: Name, labels: LabelsOf<Name>, value: number): void {
  gauges.get(name)?.set(labels, value);
}

/** Adds to what a gauge shows; a negative number takes away. */
export function addToGauge<Name extends NamesOf<"gauge">>(name: Name, labels: LabelsOf<Name>, by: number): void {
  gauges.get(name)?.inc(labels, by);
}

/** Shows a gauge no more until it is set again: better nothing than what was true once. */
export function clearGauge(name: NamesOf<"gauge">): void {
  gauges.get(name)?.reset();
}

/** What gathers figures only when somebody looks. */
const gatherers = new Set<() => Promise<void>>();
let isWatchingNode = false;

/** Calls `gather` before the figures are shown, until the answer is called. What it rejects with is left to it. */
export function beforeShown(gather: () => Promise<void>): () => void {
  gatherers.add(gather);
  return () => gatherers.delete(gather);
}

/** What `metricsText` is in. */
export const METRICS_TYPE = registry.contentType;

/**
 * The figures of this process as Prometheus reads them. A gatherer that fails or is slow leaves its figures out or as they
 * were; this never rejects for it. Node's own figures are looked at from the first call on.
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
