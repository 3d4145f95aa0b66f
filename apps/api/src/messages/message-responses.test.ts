import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import express from "express";
import type { Response } from "express";
import type { Server } from "node:http";
import { watchResponse } from "./message-responses.ts";

/** Larger than any socket buffer, so that the response cannot be sent unless it is read. */
const LARGE = Buffer.alloc(64 * 1024 * 1024);

let server: Server;
let client: Socket;
let response: Response;

beforeEach(async () => {
  const arrived = new Promise<Response>((resolve) => {
    server = createServer(express().use((_request, answer) => resolve(answer)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  response = await arrived;
});

afterEach(async () => {
  client.destroy();
  server.close();
  await once(server, "close");
});

describe("a response", () => {
  test("has been received once all of it was written to a live connection", async () => {
    client.resume();
    const reached = watchResponse(response);
    response.end(LARGE);
    expect(await reached).toBe(true);
  });

  test("has been received if the connection is closed after it", async () => {
    client.resume();
    const reached = watchResponse(response);
    response.setHeader("Connection", "close").end("hello");
    expect(await reached).toBe(true);
  });

  test("has not been received if the caller disconnected before it started", async () => {
    const reached = watchResponse(response);
    client.destroy();
    expect(await reached).toBe(false);
  });

  test("has not been received if the caller disconnected before it was watched", async () => {
    client.destroy();
    await once(response, "close");
    const reached = watchResponse(response);
    response.end("hello");
    expect(await reached).toBe(false);
  });

  test.each(["destroy", "resetAndDestroy"] as const)(
    "has not been received if the caller disconnects during it: %s",
    async (way) => {
      client.pause();
      const reached = watchResponse(response);
      response.end(LARGE);
      await once(client, "readable");
      client[way]();
      expect(await reached).toBe(false);
    },
  );
});
