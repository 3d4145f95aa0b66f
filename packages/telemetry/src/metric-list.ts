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

export type MetricName = keyof typeof METRICS;
