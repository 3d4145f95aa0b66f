import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { METRICS } from "@svc/telemetry";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { CompositionProcess, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { spansOf, waitForTrace } from "./support/span-reader.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
/** A customer's text, which must not appear in metrics, spans or log lines. */
const TEXT = "my-very-private-question";
const STAGES = ["openTicket", "heedVisitor", "triage", "retrieve", "answer", "gate", "formatReply", "sendReply"];
const STAGE_SPANS = STAGES.map((stage) => `stage ${stage}`);

let collector: WebhookReceiver;
let receiver: WebhookReceiver;
let product: Product;
let api: ApiClient;

beforeAll(async () => {
  collector = await startWebhookReceiver({ answer: { status: 200, body: "{}" } });
  receiver = await startWebhookReceiver();
  product = await startProduct({
    replicas: 1,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url(),
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=of%20the%20collector",
      SVC_LOG_LEVEL: "debug",
    },
  });
  api = createApiClient(product);
  await addProject(product.store, "traced", { fixedReply: FIXED });
});

afterAll(async () => {
  await product?.stop();
  await Promise.all([collector?.close(), receiver?.close()]);
});

const processOf = (app: "api" | "pipeline"): CompositionProcess => {
  const found = product.composition.processes.find(({ name }) => name === app || name === "standalone");
  if (found === undefined) throw new Error(`no process runs ${app}`);
  return found;
};
const metricsOf = async (app: "api" | "pipeline") => (await callApi(`${processOf(app).metricsUrl}/metrics`)).text;
/** Returns the value of a metric with all of these labels; undefined if there is none. */
function metricValue(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  const line = lines.find((one) => wanted.every((part) => one.includes(part)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
}

/** Creates the trace context of a caller. */
function newTrace() {
  const traceId = randomBytes(16).toString("hex");
  const spanId = randomBytes(8).toString("hex");
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}
const send = (fields: object, headers: Record<string, string>) =>
  api.send("traced", { text: TEXT, ...fields }, { headers });

describe("/readyz", () => {
  const ready = () => callApi(`${processOf("pipeline").metricsUrl}/readyz`);
  const plant = (chatId: string) =>
    queryDatabase(
      product.databaseUrl,
      `WITH chat AS (
         INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq)
         SELECT gen_random_uuid(), id, 'api', $1, 1 FROM projects WHERE name = 'traced' RETURNING ticket_id, project_id
       )
       INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, due_at, created_at)
       SELECT gen_random_uuid(), project_id, ticket_id, 1, 'x', 0, '{}', now() + interval '1 hour', now() - interval '5 minutes'
       FROM chat`,
      [chatId],
    );
  const remove = () =>
    queryDatabase(
      product.databaseUrl,
      "DELETE FROM messages WHERE text = 'x' AND due_at > now() + interval '1 minute'",
    );

  test("is 503 with the age if a customer's message waits for too long, which /metrics shows too; issues may wait", async () => {
    await plant("issue:planted");
    expect(await ready()).toMatchObject({ status: 200, text: '{"ok":true}' });
    await plant("planted");
    expect(await ready()).toMatchObject({
      status: 503,
      body: { ok: false, detail: expect.stringMatching(/^a message has been waiting for 3\d\d s$/) },
    });
    const text = await metricsOf("pipeline");
    expect(metricValue(text, "svc_ready")).toBe(0);
    expect(metricValue(text, "svc_store_up")).toBe(1);
    expect(metricValue(text, "svc_queue_backend_up")).toBe(1);
    for (const queue of ["messages", "issues"]) {
      expect(metricValue(text, "svc_queue_due", { queue })).toBe(1);
      expect(metricValue(text, "svc_queue_oldest_due_age_seconds", { queue })).toBeGreaterThanOrEqual(300);
    }
    expect(metricValue(text, "svc_queue_waiting", { queue: "documents" })).toBe(0);
    expect(metricValue(text, "svc_queue_dead", { queue: "callbacks" })).toBe(0);
    await remove();
    expect(await ready()).toMatchObject({ status: 200 });
  });
});

describe("a trace", () => {
  test("covers the POST, queue and stages up to the callback, as children of the caller's span", async () => {
    const { traceId, spanId, headers } = newTrace();
    const answer = await send({ chatId: "by-callback", webhookUrl: receiver.url() }, headers);
    const callback = await receiver.next();
    const names = [
      "POST /api/v1/messages",
      "accept message",
      "process message",
      ...STAGE_SPANS,
      "deliver callback",
    ] as const;
    const spans = await waitForTrace(collector, traceId, names);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([...names].toSorted());
    const find = (name: string) => spans.find((span) => span.name === name);
    expect(find("POST /api/v1/messages")?.parentSpanId).toBe(spanId);
    expect(find("accept message")?.parentSpanId).toBe(find("POST /api/v1/messages")?.spanId);
    expect(find("process message")?.parentSpanId).toBe(find("accept message")?.spanId);
    for (const name of STAGE_SPANS) expect(find(name)?.parentSpanId).toBe(find("process message")?.spanId);
    expect(find("deliver callback")?.parentSpanId).toBe(find("accept message")?.spanId);
    expect(callback.headers["traceparent"]).toBe(`00-${traceId}-${find("deliver callback")?.spanId}-01`);
    const { messageId, ticketId } = answer.body as { messageId: string; ticketId: string };
    expect(find("process message")?.attributes).toMatchObject({
      "svc.message_id": messageId,
      "svc.ticket_id": ticketId,
      "svc.channel": "api",
    });
    expect(find("deliver callback")?.attributes).toMatchObject({ "http.response.status_code": expect.anything() });
    const services =
      product.composition.composition === "standalone" ? ["svc-standalone"] : ["svc-api", "svc-pipeline"];
    expect([...new Set(spans.map(({ service }) => service))].toSorted()).toEqual(services);
    expect(collector.requests[0]).toMatchObject({
      path: "/v1/traces",
      headers: { "x-collector-key": "of the collector", "content-type": "application/json" },
    });
  });

  test("continues to a waiting call, and to the drain that returns the reply", async () => {
    const called = newTrace();
    expect(await send({ chatId: "by-call" }, called.headers)).toMatchObject({ status: 200, texts: [FIXED] });
    const byCall = await waitForTrace(collector, called.traceId, ["POST /api/v1/messages", "deliver reply"]);
    expect(byCall.find(({ name }) => name === "deliver reply")?.attributes).toMatchObject({ "svc.way": "call" });

    const posted = newTrace();
    const drained = newTrace();
    await send({ chatId: "by-drain", mode: "async" }, posted.headers);
    const { texts } = await api.drain("traced", "by-drain", "?wait=20000", { headers: drained.headers });
    expect(texts).toEqual([FIXED]);
    const byDrain = await waitForTrace(collector, posted.traceId, ["process message", "deliver reply"]);
    expect(byDrain.find(({ name }) => name === "deliver reply")).toMatchObject({
      attributes: { "svc.way": "drain" },
      links: [{ traceId: drained.traceId }],
    });
    await waitForTrace(collector, drained.traceId, ["GET /api/v1/messages/{chatId}"]);
  });

  test("starts here if the caller has none, or an invalid one", async () => {
    const before = new Set(spansOf(collector).map(({ traceId }) => traceId));
    await send({ chatId: "no-trace" }, { traceparent: `00-${"0".repeat(32)}-1111111111111111-01` });
    await waitFor(
      () =>
        spansOf(collector).some(
          ({ name, traceId, parentSpanId = "" }) =>
            name === "POST /api/v1/messages" && !before.has(traceId) && parentSpanId === "" && !/^0+$/.test(traceId),
        ),
      { what: "a trace of its own" },
    );
  });

  test("that the caller does not sample is propagated and not exported", async () => {
    const { traceId, headers } = newTrace();
    const unkept = { traceparent: headers.traceparent.replace(/01$/, "00") };
    await send({ chatId: "unkept", webhookUrl: receiver.url("/unkept") }, unkept);
    const callback = await receiver.next(({ path }) => path === "/unkept");
    expect(callback.headers["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const last = newTrace();
    await send({ chatId: "after-unkept" }, last.headers);
    await waitForTrace(collector, last.traceId, ["POST /api/v1/messages"]);
    expect(spansOf(collector).filter((span) => span.traceId === traceId)).toEqual([]);
  });

  test("contains no customer text and no key", () => {
    const sent = collector.requests.map(({ body }) => body.toString("utf8")).join("\n");
    for (const secret of [TEXT, FIXED, product.adminKey, "by-callback"]) expect(sent).not.toContain(secret);
  });

  test("appears in log lines, with the request, the message and the ticket", async () => {
    const { traceId, headers } = newTrace();
    const requestId = `request-${traceId}`;
    const answer = await send({ chatId: "logged" }, { ...headers, "X-Request-Id": requestId });
    const { messageId, ticketId } = answer.body as { messageId: string; ticketId: string };
    const line = () =>
      processOf("api")
        .output()
        .split("\n")
        .find((one) => one.includes('"message accepted"') && one.includes(requestId));
    await waitFor(() => line() !== undefined, { what: "the line" });
    expect(JSON.parse(line() ?? "")).toMatchObject({ requestId, traceId, messageId, ticketId });
    expect(processOf("api").output()).not.toContain(TEXT);
  });
});

describe("/metrics", () => {
  test("has rate, errors and durations by route, and no path, text or id", async () => {
    await callApi(`${api.baseUrl()}/api/v1/messages/${TEXT}`);
    await callApi(`${api.baseUrl()}/${TEXT}`);
    const calls = { app: "api", method: "POST", route: "/api/v1/messages" };
    const text = await metricsOf("api");
    expect(metricValue(text, "svc_http_requests_total", { ...calls, status: "200" })).toBeGreaterThanOrEqual(3);
    expect(metricValue(text, "svc_http_requests_total", { ...calls, status: "202" })).toBeGreaterThanOrEqual(3);
    expect(metricValue(text, "svc_http_request_duration_seconds_count", calls)).toBeGreaterThanOrEqual(6);
    const denied = { app: "api", route: "/api/v1/messages/{chatId}", status: "401" };
    expect(metricValue(text, "svc_http_requests_total", denied)).toBe(1);
    expect(metricValue(text, "svc_http_requests_total", { route: "none", status: "404" })).toBe(1);
    expect(metricValue(text, "svc_http_requests_in_progress", { app: "api" })).toBe(0);
    expect(text).not.toContain(TEXT);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/);
    expect(text).not.toContain(`route="/readyz"`);
  });

  test("has the durations of stages, messages and deliveries, and the delay of the event loop", async () => {
    const [pipeline, front] = [await metricsOf("pipeline"), await metricsOf("api")];
    for (const stage of STAGES) {
      expect(
        metricValue(pipeline, "svc_stage_duration_seconds_count", { stage, outcome: "ok" }),
      ).toBeGreaterThanOrEqual(6);
    }
    expect(metricValue(front, "svc_messages_accepted_total", { channel: "api" })).toBeGreaterThanOrEqual(6);
    const answered = { channel: "api", outcome: "answered" };
    expect(metricValue(pipeline, "svc_messages_finished_total", answered)).toBeGreaterThanOrEqual(6);
    expect(metricValue(pipeline, "svc_message_duration_seconds_count", answered)).toBeGreaterThanOrEqual(6);
    const delivered = (way: string) => metricValue(front, "svc_deliveries_total", { way, outcome: "delivered" });
    expect([delivered("callback"), delivered("drain")]).toEqual([2, 1]);
    expect(delivered("call")).toBeGreaterThanOrEqual(4);
    expect(metricValue(front, "svc_delivery_duration_seconds_count", { way: "callback" })).toBe(2);
    for (const text of [pipeline, front]) {
      expect(metricValue(text, "nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
      expect(metricValue(text, "process_cpu_seconds_total")).toBeGreaterThan(0);
      expect(metricValue(text, "svc_build_info")).toBe(1);
      const shown = [...text.matchAll(/^# TYPE (svc_\w+) /gm)].map((match) => match[1] ?? "");
      expect(shown.toSorted()).toEqual(Object.keys(METRICS).toSorted());
    }
  });

  test("is only on the monitoring port if one is set", async () => {
    expect((await callApi(`${api.baseUrl()}/metrics`)).status).toBe(404);
    expect((await callApi(`${processOf("api").metricsUrl}/metrics`, { method: "POST", body: "x" })).status).toBe(404);
  });
});
