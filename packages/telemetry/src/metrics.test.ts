import { describe, expect, test } from "@jest/globals";
import {
  METRICS,
  OTHER,
  beforeScrape,
  clearGauge,
  count,
  fewValues,
  metricsText,
  observe,
  setGauge,
} from "./metrics.ts";
import type { MetricDeclaration } from "./metrics.ts";

const declared = Object.entries<MetricDeclaration>(METRICS);

describe("the list of figures", () => {
  test.each(declared)("names %s as Prometheus wants it", (name, { kind, help, labels, buckets }) => {
    expect(name).toMatch(/^svc_[a-z]+(_[a-z]+)*$/);
    expect(name.endsWith("_total")).toBe(kind === "counter");
    if (kind === "histogram") expect(name).toMatch(/_seconds$/);
    expect(buckets === undefined).toBe(kind !== "histogram");
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    // Each of these would create a time series per customer.
    expect(labels.filter((label) => /id$|project|chat|user|key|url|path|host/.test(label))).toEqual([]);
  });
});

describe("the text of the figures", () => {
  test("has what was counted, with labels escaped, and Node's own", async () => {
    count("svc_http_requests_total", { app: "api", method: "GET", route: 'a"b\n', status: "200" });
    count("svc_http_requests_total", { app: "api", method: "GET", route: 'a"b\n', status: "200" }, 2);
    observe("svc_http_request_duration_seconds", { app: "api", method: "GET", route: "/x" }, 0.3);
    const text = await metricsText();
    expect(text).toContain(String.raw`svc_http_requests_total{app="api",method="GET",route="a\"b\n",status="200"} 3`);
    expect(text).toContain('svc_http_request_duration_seconds_bucket{le="0.5",app="api",method="GET",route="/x"} 1');
    expect(text).toContain('svc_http_request_duration_seconds_bucket{le="0.25",app="api",method="GET",route="/x"} 0');
    expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  });

  test("is gathered when it is looked at, and shown all the same when that fails or hangs", async () => {
    const forget = [
      beforeScrape(() => Promise.reject(new Error("service unavailable"))),
      beforeScrape(() => new Promise(() => undefined)),
      beforeScrape(() => {
        setGauge("svc_queue_due", { queue: "messages" }, 7);
        return Promise.resolve();
      }),
    ];
    expect(await metricsText()).toContain('svc_queue_due{queue="messages"} 7');
    for (const end of forget) end();
    clearGauge("svc_queue_due");
    expect(await metricsText()).not.toContain("svc_queue_due{");
  });
});

test("the first values of a label are themselves, and later ones are together", () => {
  const name = fewValues(2);
  expect(["a", "b", "c", "a", "d", "b"].map(name)).toEqual(["a", "b", OTHER, "a", OTHER, "b"]);
});
