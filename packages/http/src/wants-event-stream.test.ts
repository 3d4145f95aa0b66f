import express from "express";
import type { Request } from "express";
import { describe, expect, test } from "@jest/globals";
import { wantsEventStream } from "./wants-event-stream.ts";

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
