import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import type { Cli } from "../cli.ts";
import { checkTools } from "./check-tools.ts";

/** What the doctor finds where a server answers every request like this; null: nothing listens there. */
async function find(answer: { status: number; type: string } | null, key: string | null) {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["x-api-key"]);
    request.resume();
    response.writeHead(answer?.status ?? 500, { "Content-Type": answer?.type }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (answer === null) await close();
  const ports = { api: 0, widget: 0, tools: port, console: 0, metrics: undefined };
  const check = await checkTools({ startWith: "npm start" } as Cli, { bindHost: undefined, ports }, key, new Map());
  if (answer !== null) await close();
  return { check, keys };
}

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";

describe("the tool server", () => {
  test.each([
    { what: "that lists its tools", answer: { status: 200, type: JSON_TYPE }, key: "k", status: "ok" },
    { what: "asked without a key", answer: { status: 401, type: PROBLEM }, key: null, status: "ok" },
    { what: "that is asked too often", answer: { status: 429, type: PROBLEM }, key: "k", status: "ok" },
    { what: "that does not know the key", answer: { status: 401, type: PROBLEM }, key: "k", status: "fail" },
    { what: "that is another program", answer: { status: 404, type: "text/html" }, key: "k", status: "fail" },
    { what: "that is not there", answer: null, key: "k", status: "warn" },
  ])("$what: $status", async ({ answer, key, status }) => {
    const { check, keys } = await find(answer, key);
    expect(check).toMatchObject({ name: "Tool server", status });
    expect(check.advice === undefined).toBe(status === "ok");
    expect(keys).toEqual(answer === null ? [] : [key ?? undefined]);
  });
});
