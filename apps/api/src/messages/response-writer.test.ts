import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { StoredReply } from "@svc/store";
import { waitFor } from "@svc/testing";
import express from "express";
import type { Request, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import { finalSync, watchResponse } from "./message-responses.ts";
import { eventWriter, growText, textOf } from "./response-writer.ts";

const NAMES = { chatId: "c", ticketId: "t", messageId: "m" };
/** Larger than any socket buffer, and than the buffer for a slow reader. */
const LARGE = "0123456789abcdef".repeat((8 * 1024 * 1024) / 16);

let server: Server;
let client: Socket;
let request: Request;
let response: Response;

beforeEach(async () => {
  const arrived = new Promise<void>((resolve) => {
    server = createServer(
      express().use((incoming, answer) => {
        [request, response] = [incoming, answer];
        resolve();
      }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await arrived;
});

afterEach(async () => {
  client.destroy();
  server.close();
  await once(server, "close");
});

const reply = (seq: number): StoredReply => ({
  id: `r-${seq}`,
  ticketId: "t",
  seq,
  inReplyTo: "m",
  author: "agent",
  createdAt: new Date(),
  type: "message",
  text: LARGE,
  markdown: false,
  sources: null,
});

/** Sends two large replies to a caller that resumes an earlier call. */
async function sendTwo(): Promise<void> {
  const answer = finalSync(NAMES, { state: "answered", coveredBy: null, replies: [reply(1), reply(2)] });
  if (answer === null) throw new Error("that is no answer");
  // A response that is ready needs nothing of the context.
  await eventWriter({} as ApiContext, request, response, true).send(answer);
}

describe("a large response in events", () => {
  test("is received completely by a slow reader", async () => {
    const reached = watchResponse(response);
    const sending = sendTwo();
    let length = 0;
    let end = "";
    client.on("data", (part: Buffer) => {
      length += part.length;
      end = (end + part.toString("latin1")).slice(-100);
    });
    await sending;
    expect(await reached).toBe(true);
    await waitFor(() => end.endsWith("}\n\n\r\n0\r\n\r\n"), { what: "the end of the answer" });
    // Once as delta, then each as reply, then both.
    expect(length).toBeGreaterThan(5 * LARGE.length);
  });

  test("has not been received if the reader disconnects before its end", async () => {
    const reached = watchResponse(response);
    const sending = sendTwo();
    await once(client, "readable");
    client.destroy();
    await sending;
    expect(await reached).toBe(false);
  });
});

describe("the delta of a growing text", () => {
  test.each([
    ["is none if the reader has all of it", "abc", "abc", null],
    ["has the new characters", "ab", "abc", { offset: 2, text: "c" }],
    ["has the new characters after a surrogate pair", "🚚", "🚚!", { offset: 2, text: "!" }],
    ["has another text from its beginning", "abc", "abd", { offset: 0, text: "abd" }],
    ["has a shorter text from its beginning", "abc", "a", { offset: 0, text: "a" }],
    ["withdraws the text", "abc", "", { offset: 0, text: "" }],
    ["starts at the beginning if it is unknown what the reader has", null, "", { offset: 0, text: "" }],
  ])("%s", (_what, before, text, delta) => {
    expect(growText("m", before, text)).toEqual(delta === null ? null : { messageId: "m", ...delta });
  });

  test("ends with the text of the first message among the replies", () => {
    const replies = [{ type: "attachment" }, { type: "message", text: "a" }, { type: "message", text: "b" }];
    expect([textOf(replies), textOf([])]).toEqual(["a", ""]);
  });
});
