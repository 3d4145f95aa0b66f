import type { Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import express from "express";
import type { Response } from "express";
import { widgetSettingsSchema } from "@svc/contracts";
import { waitFor } from "@svc/testing";
import { configResponse, limitBodyTime } from "./widget-routes.ts";

const HEAD = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test("a request that is incomplete after its time limit is disconnected, and a complete one may be answered late", async () => {
  const waiting: Response[] = [];
  const app = express();
  app.use(limitBodyTime(50));
  app.use((request, response) => {
    request.resume();
    request.on("error", () => undefined);
    waiting.push(response);
  });
  server = app.listen(0, "127.0.0.1");
  await waitFor(() => server?.listening === true, { what: "the server" });
  const { port } = server.address() as AddressInfo;
  const send = (text: string) => {
    const state = { heard: "", isClosed: false };
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (part: string) => (state.heard += part));
    socket.on("error", () => undefined).on("close", () => (state.isClosed = true));
    return state;
  };
  const whole = send(`${HEAD}whole`);
  await waitFor(() => waiting.length === 1, { what: "the whole request" });
  const slow = send(`${HEAD}sl`);
  // It started later, so the time limit of the other one has passed too.
  await waitFor(() => slow.isClosed, { what: "the slow request to be cut" });
  waiting[0]?.end("an answer");
  await waitFor(() => whole.heard.includes("an answer"), { what: "the late answer" });
  expect(slow.heard).toBe("");
});

test("the form before the first message asks in one order, whatever the order of the setting", () => {
  const settings = widgetSettingsSchema.parse({ apiKey: "svc_widget_test", features: { prechat: ["email", "name"] } });
  expect(configResponse(settings, "").features.prechat).toEqual(["name", "email"]);
});
