import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import express from "express";
import type { Request, Response } from "express";
import type { StoredReply } from "@svc/store";
import { waitFor } from "@svc/testing";
import type { ApiContext } from "../api-context.ts";
import { eventWriter, finalSync, growText, textOf, watchResponse } from "./response-writer.ts";

/** Larger than any socket buffer, so that the response cannot be sent unless it is read. */
const LARGE_REPLIES = Buffer.alloc(64 * 1024 * 1024);

describe("an error as a response", () => {
  let errorServer: Server;
  let errorClient: Socket;
  let errorResponse: Response;

  beforeEach(async () => {
    const arrived = new Promise<Response>((resolve) => {
      errorServer = createServer(express().use((_request, answer) => resolve(answer)));
    });
    errorServer.listen(0, "127.0.0.1");
    await once(errorServer, "listening");
    errorClient = connect((errorServer.address() as AddressInfo).port, "127.0.0.1");
    await once(errorClient, "connect");
    errorClient.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    errorResponse = await arrived;
  });

  afterEach(async () => {
    errorClient.destroy();
    errorServer.close();
    await once(errorServer, "close");
  });

  describe("a response", () => {
    test("has been received once all of it was written to a live connection", async () => {
      errorClient.resume();
      const reached = watchResponse(errorResponse);
      errorResponse.end(LARGE_REPLIES);
      expect(await reached).toBe(true);
    });

    test("has been received if the connection is closed after it", async () => {
      errorClient.resume();
      const reached = watchResponse(errorResponse);
      errorResponse.setHeader("Connection", "close").end("hello");
      expect(await reached).toBe(true);
    });

    test("has not been received if the caller disconnected before it started", async () => {
      const reached = watchResponse(errorResponse);
      errorClient.destroy();
      expect(await reached).toBe(false);
    });

    test("has not been received if the caller disconnected before it was watched", async () => {
      errorClient.destroy();
      await once(errorResponse, "close");
      const reached = watchResponse(errorResponse);
      errorResponse.end("hello");
      expect(await reached).toBe(false);
    });

    test.each(["destroy", "resetAndDestroy"] as const)(
      "has not been received if the caller disconnects during it: %s",
      async (way) => {
        errorClient.pause();
        const reached = watchResponse(errorResponse);
        errorResponse.end(LARGE_REPLIES);
        await once(errorClient, "readable");
        errorClient[way]();
        expect(await reached).toBe(false);
      },
    );
  });
});

const NAMES = { chatId: "c", ticketId: "t", messageId: "m" };
/** Larger than any socket buffer, and than the buffer for a slow reader. */
const LARGE = "0123456789abcdef".repeat((8 * 1024 * 1024) / 16);

describe("events", () => {
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
});
