import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { formatTraceparent, inSpan, isTracing, openTracing, parseTraceparent, startSpan, traceIdOf } from "./spans.ts";

describe("spans", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const SPAN = "b7ad6b7169203331";

  describe("a traceparent", () => {
    test("is read, and written as it was", () => {
      for (const flags of ["00", "01"]) {
        const text = `00-${TRACE}-${SPAN}-${flags}`;
        const position = parseTraceparent(text);
        expect(position).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: flags === "01" });
        expect(position === null ? null : formatTraceparent(position)).toBe(text);
        expect(traceIdOf(text)).toBe(TRACE);
      }
    });

    test("of a later version is read as far as this one goes", () => {
      expect(parseTraceparent(`cc-${TRACE}-${SPAN}-09-what-comes-later`)).toMatchObject({ isSampled: true });
    });

    test.each([
      undefined,
      "",
      "00",
      `ff-${TRACE}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01-more`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE}-${SPAN}-0`,
      `00-${TRACE}-${SPAN}-01\n`,
      ` 00-${TRACE}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    ])("that is none is as if it was not there: %j", (text) => {
      expect(parseTraceparent(text)).toBeNull();
      expect(traceIdOf(text)).toBeUndefined();
    });
  });
});

describe("openTracing", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

  const config = (endpoint: string) => ({
    endpoint,
    protocol: "http/protobuf" as const,
    headers: { "x-key": "k" },
    serviceName: "svc-test",
    serviceVersion: "1.2.3",
    sampleRatio: 1,
  });

  /** A collector on a real port that records the requests. */
  async function startCollector() {
    const received: { url: string | undefined; headers: IncomingHttpHeaders; body: Buffer }[] = [];
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        received.push({ url: request.url, headers: request.headers, body: Buffer.concat(parts) });
        response.writeHead(200).end();
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    return {
      received,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      close: () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    };
  }

  test("without a collector, what comes in is handed on and nothing else happens", async () => {
    expect(isTracing()).toBe(false);
    expect(startSpan("x", { parent: null }).traceparent).toBeNull();
    expect(await inSpan("x", { parent: PARENT }, (span) => Promise.resolve(span.traceparent))).toBe(PARENT);
  });

  test("a collector is sent the spans as protobuf, the last ones at the close, and no text of an error", async () => {
    const collector = await startCollector();
    const errors: string[] = [];
    const tracing = await openTracing(config(collector.url), (text) => errors.push(text));
    expect(isTracing()).toBe(true);
    const span = startSpan("outer", { parent: PARENT, kind: "server", attributes: { "svc.channel": "api" } });
    expect(span.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    const failing = inSpan("inner", { parent: span.traceparent }, () =>
      Promise.reject(new TypeError("what the customer wrote")),
    );
    await expect(failing).rejects.toThrow("what the customer wrote");
    span.rename("renamed");
    span.end();
    await tracing.close();
    await collector.close();
    expect(isTracing()).toBe(false);
    expect(collector.received).toHaveLength(1);
    const [{ url, headers, body } = { url: "", headers: {}, body: Buffer.alloc(0) }] = collector.received;
    expect(url).toBe("/v1/traces");
    expect(headers).toMatchObject({ "content-type": "application/x-protobuf", "x-key": "k" });
    for (const part of ["svc-test", "1.2.3", "renamed", "inner", "TypeError", "svc.channel"]) {
      expect(body.includes(part)).toBe(true);
    }
    expect(body.includes(Buffer.from(TRACE, "hex"))).toBe(true);
    expect(body.includes("customer wrote")).toBe(false);
    expect(errors).toEqual([]);
  });

  test("a collector that is away is told once, and keeps nobody waiting", async () => {
    const collector = await startCollector();
    await collector.close();
    const errors: string[] = [];
    const tracing = await openTracing(config(collector.url), (text) => errors.push(text));
    for (const name of ["a", "b", "c"]) startSpan(name, { parent: null }).end();
    await tracing.close();
    expect(errors.length).toBeLessThanOrEqual(1);
  });
});
