import { createServer, request } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@svc/testing";
import express from "express";
import type { Request } from "express";
import { openEventStream, wantsEventStream } from "./open-event-stream.ts";
import type { EventStream } from "./open-event-stream.ts";

let server: Server;
let readers: Reader[];

interface Reader {
  answer: IncomingMessage;
  response: ServerResponse;
  text: () => string;
  hangUp: () => void;
}

beforeEach(async () => {
  server = createServer();
  readers = [];
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});

afterEach(async () => {
  for (const { hangUp } of readers) hangUp();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

/** A stream and its reader; with `takesNothing`, the reader does not read. */
async function open(
  options: Parameters<typeof openEventStream>[1] & { takesNothing?: true } = {},
): Promise<{ stream: EventStream; reader: Reader }> {
  let stream: EventStream | null = null;
  let response: ServerResponse | null = null;
  server.once("request", (_request, opened: ServerResponse) => {
    response = opened;
    stream = openEventStream(opened, options);
  });
  const { port } = server.address() as AddressInfo;
  const call = request({ port, host: "127.0.0.1", agent: false });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    call.on("response", resolve).on("error", reject).end();
  });
  let text = "";
  answer.on("error", () => undefined);
  if (options.takesNothing !== true) answer.setEncoding("utf8").on("data", (part: string) => (text += part));
  if (stream === null || response === null) throw new Error("there was no request");
  const reader = { answer, response, text: () => text, hangUp: () => call.destroy() };
  readers.push(reader);
  return { stream, reader };
}

describe("an event stream", () => {
  test("sends events with ids as they come, and may be kept by nobody on the way", async () => {
    const { stream, reader } = await open();
    const { statusCode, headers } = reader.answer;
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
    expect(stream.send("reply", { text: "two\nlines" }, "7")).toBe(true);
    await waitFor(() => reader.text().includes("7"), { what: "the event, while the stream is open" });
    expect(stream.send("done", {})).toBe(true);
    stream.end();
    stream.end();
    expect([stream.send("late", {}), stream.isOpen()]).toEqual([false, false]);
    await stream.closed;
    await waitFor(() => reader.answer.complete, { what: "the end" });
    expect(reader.text()).toBe(
      'retry: 1000\n\nid: 7\nevent: reply\ndata: {"text":"two\\nlines"}\n\nevent: done\ndata: {}\n\n',
    );
  });

  test("says that it is there while nothing is sent", async () => {
    const { stream, reader } = await open({ heartbeatMs: 5 });
    await waitFor(() => reader.text().split(":\n\n").length > 3, { what: "three comments" });
    stream.end();
  });

  test("is over when its reader hangs up", async () => {
    const { stream, reader } = await open();
    reader.hangUp();
    await stream.closed;
    expect([stream.isOpen(), stream.send("reply", {})]).toEqual([false, false]);
    await stream.drained();
    const again = openEventStream(reader.response);
    await again.closed;
    expect(again.send("reply", {})).toBe(false);
  });

  test("ends after what was sent when its process stops", async () => {
    const stopping = new AbortController();
    const { stream, reader } = await open({ signal: stopping.signal });
    stream.send("reply", {});
    stopping.abort();
    await stream.closed;
    await waitFor(() => reader.answer.complete, { what: "the end" });
    expect(reader.text()).toContain("event: reply");
    const late = await open({ signal: stopping.signal });
    expect(late.stream.isOpen()).toBe(false);
  });

  test("tells when its reader is behind, and ends rather than keep what is never read", async () => {
    const { stream } = await open({ takesNothing: true });
    const large = "x".repeat(1_000_000);
    let sent = 0;
    let wasBehind = false;
    while (stream.send("reply", large)) {
      sent++;
      wasBehind = stream.isBehind();
    }
    expect([sent > 1, sent < 30, wasBehind, stream.isOpen()]).toEqual([true, true, true, false]);
  });

  test("lets whoever waits for its reader send as much as it likes", async () => {
    const { stream, reader } = await open();
    const large = "x".repeat(1_000_000);
    for (let count = 0; count < 20; count++) {
      expect(stream.send("reply", large)).toBe(true);
      await stream.drained();
      expect(stream.isBehind()).toBe(false);
    }
    stream.end();
    await waitFor(() => reader.answer.complete, { what: "the end" });
    expect(reader.text().length).toBeGreaterThan(20_000_000);
  });
});

/** A request with this Accept. */
function requestOf(accept: string | undefined): Request {
  return Object.assign(Object.create(express.request) as Request, { headers: accept === undefined ? {} : { accept } });
}

describe("a caller gets events", () => {
  test.each(["text/event-stream", "Text/Event-Stream", "text/event-stream, */*;q=0.5", "text/event-stream; q=0.9"])(
    "who says %s",
    (accept) => expect(wantsEventStream(requestOf(accept))).toBe(true),
  );

  test.each([undefined, "*/*", "text/*", "application/json, text/event-stream", "text/event-stream;q=0", "text/html"])(
    "and JSON who says %s",
    (accept) => expect(wantsEventStream(requestOf(accept))).toBe(false),
  );
});
