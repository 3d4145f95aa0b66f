/** What a figure is: a `counter` only grows, a `gauge` is as it is now, a `histogram` counts by size. */
export interface MetricDeclaration {
  kind: "counter" | "gauge" | "histogram";
  help: string;
  /** Each has few values: a route and not a path, never an id, a project, or what somebody has typed. */
  labels: readonly string[];
  /** Upper bounds of a histogram, in its unit. */
  buckets?: readonly number[];
}

/** From a look into the database to a call that waits for its answer. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const;
/** From a rule that is looked up to a language model that thinks. */
const WORK_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/**
 * Every figure that a process shows at `/metrics`, beside those of Node.js itself (`process_`, `nodejs_`): the only
 * place where one is declared. Names follow Prometheus: base units, `_total` for counters.
 */
export const METRICS = {
  svc_build_info: { kind: "gauge", help: "Always 1; the labels say what runs.", labels: ["app", "version"] },
  svc_ready: { kind: "gauge", help: "1 where /readyz answers 200, else 0.", labels: [] },
  svc_store_up: { kind: "gauge", help: "1 where PostgreSQL answers this process, else 0.", labels: [] },
  svc_queue_backend_up: {
    kind: "gauge",
    help: "1 where this process can publish jobs (on Redis, or in PostgreSQL), else 0.",
    labels: [],
  },

  svc_http_requests_total: {
    kind: "counter",
    help: "Requests that were answered, or whose caller hung up first (status none).",
    labels: ["app", "method", "route", "status"],
  },
  svc_http_request_duration_seconds: {
    kind: "histogram",
    help: "From a request to the end of its answer; of a call that waits for its reply, that wait is a part.",
    labels: ["app", "method", "route"],
    buckets: CALL_SECONDS,
  },
  svc_http_requests_in_progress: { kind: "gauge", help: "Requests that are being answered.", labels: ["app"] },

  svc_queue_waiting: {
    kind: "gauge",
    help: "What is not done yet, being worked on and put off included. Of the whole installation, by every process: take the greatest.",
    labels: ["queue"],
  },
  svc_queue_due: {
    kind: "gauge",
    help: "Of svc_queue_waiting, what could be done now or is being done.",
    labels: ["queue"],
  },
  svc_queue_oldest_due_age_seconds: {
    kind: "gauge",
    help: "How long what has waited longest could have been done; 0 where nothing is due.",
    labels: ["queue"],
  },
  svc_queue_dead: {
    kind: "gauge",
    help: "Dead letters: what was given up and waits for an operator.",
    labels: ["queue"],
  },

  svc_stored_bytes: {
    kind: "gauge",
    help: "Bytes of files, documents, kept hook bodies and texts of messages. Of the whole installation, by every process: take the greatest.",
    labels: ["kind"],
  },
  svc_storage_used_ratio: {
    kind: "gauge",
    help: "The part of a storage limit that is used, 0 to 1: of the project that uses most of its own (scope project), and of all of them together (scope installation).",
    labels: ["scope"],
  },

  svc_messages_accepted_total: { kind: "counter", help: "Messages that were committed.", labels: ["channel"] },
  svc_messages_finished_total: {
    kind: "counter",
    help: "Messages that the pipeline is through with: answered, held for a person, rejected, or failed (a dead letter).",
    labels: ["channel", "outcome"],
  },
  svc_message_duration_seconds: {
    kind: "histogram",
    help: "From a message's coming in to the moment in which the pipeline is through with it.",
    labels: ["channel", "outcome"],
    buckets: CALL_SECONDS,
  },
  svc_message_retries_total: {
    kind: "counter",
    help: "Tries of the pipeline that failed, so that another one follows.",
    labels: [],
  },
  svc_lease_lapses_total: {
    kind: "counter",
    help: "Messages and decisions that another process took over because this one was too slow to renew their lease.",
    labels: [],
  },
  svc_stage_duration_seconds: {
    kind: "histogram",
    help: "One stage of the pipeline for one message or decision.",
    labels: ["stage", "outcome"],
    buckets: WORK_SECONDS,
  },

  svc_deliveries_total: {
    kind: "counter",
    help: "Tries to hand a reply over, by the way that it goes: call, drain, stream, callback, socket, push.",
    labels: ["way", "outcome"],
  },
  svc_delivery_duration_seconds: {
    kind: "histogram",
    help: "One try of what is sent out: a callback, or a reply that a channel pushes.",
    labels: ["way"],
    buckets: CALL_SECONDS,
  },

  svc_sockets: { kind: "gauge", help: "Connections of visitors that are open.", labels: ["transport"] },
  svc_event_streams: { kind: "gauge", help: "Answers as server-sent events that are open.", labels: [] },

  svc_model_calls_total: {
    kind: "counter",
    help: "Calls of language models, by what they were for and what became of them (ok, or the fault).",
    labels: ["model", "purpose", "outcome"],
  },
  svc_model_call_duration_seconds: {
    kind: "histogram",
    help: "Calls of language models, the wait for their turn included.",
    labels: ["model"],
    buckets: CALL_SECONDS,
  },
  svc_model_tokens_total: {
    kind: "counter",
    help: "Tokens that language models have read (input) and written (output).",
    labels: ["model", "direction"],
  },
  svc_model_cost_usd_total: {
    kind: "counter",
    help: "What calls of language models have cost by SVC_LLM_PRICES, in US dollars; nothing for models without a price.",
    labels: ["model"],
  },
} as const satisfies Record<string, MetricDeclaration>;

export type MetricName = keyof typeof METRICS;
