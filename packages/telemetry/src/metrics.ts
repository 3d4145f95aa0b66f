import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

/** Type of a metric: a `counter` only increases, a `gauge` is a current value, a `histogram` counts values by size. */
export interface MetricDeclaration {
  kind: "counter" | "gauge" | "histogram";
  help: string;
  /** Labels with few values: a route and not a path, never an id, a project, or text that a person has typed. */
  labels: readonly string[];
  /** Upper bounds of a histogram, in its unit. */
  buckets?: readonly number[];
}

/** From a database query to a call that waits for its reply. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const;
/** From a rule look-up to a reasoning language model. */
const WORK_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/**
 * All metrics of a process at `/metrics`, besides those of Node.js (`process_`, `nodejs_`): the only place where
 * metrics are declared. Names follow Prometheus: base units, `_total` for counters.
 */
export const METRICS = {
  svc_build_info: {
    kind: "gauge",
    help: "Always 1. The labels contain the version and the app.",
    labels: ["app", "version"],
  },
  svc_ready: { kind: "gauge", help: "1 if /readyz returns 200, otherwise 0.", labels: [] },
  svc_store_up: { kind: "gauge", help: "1 if PostgreSQL responds to this process, otherwise 0.", labels: [] },
  svc_queue_backend_up: {
    kind: "gauge",
    help: "1 if this process can publish jobs (to Redis or PostgreSQL), otherwise 0.",
    labels: [],
  },

  svc_http_requests_total: {
    kind: "counter",
    help: "HTTP requests that received a response, or whose client disconnected first (status none).",
    labels: ["app", "method", "route", "status"],
  },
  svc_http_request_duration_seconds: {
    kind: "histogram",
    help: "Time from the request to the end of the response, including the time that requests wait for a reply.",
    labels: ["app", "method", "route"],
    buckets: CALL_SECONDS,
  },
  svc_http_requests_in_progress: { kind: "gauge", help: "HTTP requests in progress.", labels: ["app"] },

  svc_queue_waiting: {
    kind: "gauge",
    help: "Unfinished jobs, including running and delayed ones. Every process reports the whole installation: use max().",
    labels: ["queue"],
  },
  svc_queue_due: {
    kind: "gauge",
    help: "Jobs of svc_queue_waiting that are due or running.",
    labels: ["queue"],
  },
  svc_queue_oldest_due_age_seconds: {
    kind: "gauge",
    help: "Time since the oldest waiting job became due; 0 if none is due.",
    labels: ["queue"],
  },
  svc_queue_dead: {
    kind: "gauge",
    help: "Dead letters: failed jobs that wait for an operator.",
    labels: ["queue"],
  },

  svc_stored_bytes: {
    kind: "gauge",
    help: "Stored bytes of files, documents, hook bodies and message texts. Every process reports the whole installation: use max().",
    labels: ["kind"],
  },
  svc_storage_used_ratio: {
    kind: "gauge",
    help: "Used fraction of a storage limit, from 0 to 1: of the project with the highest usage (scope project), and of all projects together (scope installation).",
    labels: ["scope"],
  },

  svc_ratings_total: {
    kind: "counter",
    help: "Ratings that visitors sent, by score from 1 to 5. A later comment is not counted again; another score is.",
    labels: ["score"],
  },
  svc_messages_accepted_total: { kind: "counter", help: "Committed messages.", labels: ["channel"] },
  svc_messages_finished_total: {
    kind: "counter",
    help: "Messages processed by the pipeline: answered, held for an operator, rejected, or failed (dead letter).",
    labels: ["channel", "outcome"],
  },
  svc_message_duration_seconds: {
    kind: "histogram",
    help: "Time from the arrival of a message until the pipeline has processed it.",
    labels: ["channel", "outcome"],
    buckets: CALL_SECONDS,
  },
  svc_message_retries_total: {
    kind: "counter",
    help: "Failed pipeline attempts that will be retried.",
    labels: [],
  },
  svc_lease_lapses_total: {
    kind: "counter",
    help: "Messages and decisions taken over by another process, because their lease was not renewed in time.",
    labels: [],
  },
  svc_stage_duration_seconds: {
    kind: "histogram",
    help: "Duration of one pipeline stage for one message or decision.",
    labels: ["stage", "outcome"],
    buckets: WORK_SECONDS,
  },

  svc_deliveries_total: {
    kind: "counter",
    help: "Attempts to deliver a reply, by delivery path: call, drain, stream, callback, socket, push; to send an event to a webhook: event; emails: email; and push notifications to operators' browsers: web_push.",
    labels: ["way", "outcome"],
  },
  svc_delivery_duration_seconds: {
    kind: "histogram",
    help: "Duration of one attempt to send a callback, an event to a webhook, or a reply on a channel that pushes.",
    labels: ["way"],
    buckets: CALL_SECONDS,
  },

  svc_sockets: { kind: "gauge", help: "Open connections of widget visitors.", labels: ["transport"] },
  svc_event_streams: { kind: "gauge", help: "Open server-sent event streams.", labels: [] },

  svc_model_calls_total: {
    kind: "counter",
    help: "Calls to language models, by purpose and result (ok, or the error).",
    labels: ["model", "purpose", "outcome"],
  },
  svc_model_call_duration_seconds: {
    kind: "histogram",
    help: "Duration of calls to language models, including the time in the queue.",
    labels: ["model"],
    buckets: CALL_SECONDS,
  },
  svc_model_tokens_total: {
    kind: "counter",
    help: "Tokens of language models: prompt (input) and completion (output).",
    labels: ["model", "direction"],
  },
  svc_model_cost_usd_total: {
    kind: "counter",
    help: "Cost of calls to language models according to SVC_LLM_PRICES, in US dollars. Models without a price are not counted.",
    labels: ["model"],
  },
} as const satisfies Record<string, MetricDeclaration>;

type MetricName = keyof typeof METRICS;

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
