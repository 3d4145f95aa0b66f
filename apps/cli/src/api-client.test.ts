import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { freePort } from "@svc/testing";
import {
  apiUrlOf,
  findRunningService,
  makeApiTarget,
  makeToolsTarget,
  postMessage,
  probeApi,
  withClient,
} from "./api-client.ts";
import type { ApiTarget } from "./api-client.ts";
import { EXIT } from "./cli.ts";
import type { Cli } from "./cli.ts";

let server: Server | undefined;

async function serve(listener: RequestListener): Promise<ApiTarget> {
  const opened = createServer(listener);
  server = opened;
  await new Promise<void>((resolve) => {
    opened.listen(0, "127.0.0.1", resolve);
  });
  const { port } = opened.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, key: "some-key", startWith: "svc up" };
}

const answer = (status: number, body: unknown): Promise<ApiTarget> =>
  serve((request, response) => {
    request.resume();
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });

const problem = (code: string, detail: string) => ({ ok: false, code, detail, requestId: "r-1" });
const message = { text: "hello", timeoutMs: 1_000 };

afterEach(async () => {
  const open = server;
  server = undefined;
  open?.closeAllConnections();
  await new Promise<void>((resolve) => {
    if (open === undefined) resolve();
    else open.close(() => resolve());
  });
});

describe("an error response of the API sets the exit code of its kind", () => {
  test.each([
    [401, "invalid_key", EXIT.notAllowed],
    [403, "insufficient_scope", EXIT.notAllowed],
    [400, "invalid_request", EXIT.failed],
    [503, "unavailable", EXIT.notRunning],
    [500, "internal", EXIT.failed],
  ])("%i %s", async (status, code, exitCode) => {
    const target = await answer(status, problem(code, "What to do."));
    await expect(postMessage(target, message)).rejects.toMatchObject({
      code,
      exitCode,
      message: expect.stringContaining("What to do."),
    });
  });

  test("explains how to start the product if nothing listens", async () => {
    const target = { url: `http://127.0.0.1:${await freePort()}`, key: "some-key", startWith: "npm start" };
    await expect(postMessage(target, message)).rejects.toMatchObject({
      code: "not_running",
      exitCode: EXIT.notRunning,
      message: expect.stringContaining("npm start"),
    });
  });

  test("reports another program that listens", async () => {
    const target = await serve((_, response) => response.end("<html>"));
    await expect(postMessage(target, message)).rejects.toMatchObject({ code: "not_this_product" });
  });

  test("rejects a key that is invalid in a header", async () => {
    const target = await answer(200, {});
    await expect(postMessage({ ...target, key: "ключ-администратора" }, message)).rejects.toMatchObject({
      exitCode: EXIT.notAllowed,
    });
  });
});

describe("a call of the API", () => {
  test("sends key and project, and encodes a chat id with slashes and percent signs", async () => {
    const seen: unknown[] = [];
    const target = await serve(({ url, headers }, response) => {
      seen.push(url, headers["x-api-key"], headers["x-svc-project"]);
      response.end(JSON.stringify({ ok: true, chatId: "x", replies: [], cursor: "0", more: false }));
    });
    await withClient({ ...target, project: "shop" }, (client) => client.drain("a/b %20ü", { waitMs: 5 }));
    expect(seen).toEqual(["/api/v1/messages/a%2Fb%20%2520%C3%BC?wait=5", "some-key", "shop"]);
  });

  test("goes to this machine if the API listens on all interfaces", () => {
    const at = (bindHost: string | undefined) => apiUrlOf({ bindHost, ports: { api: 8080 } });
    expect(at(undefined)).toBe("http://127.0.0.1:8080");
    expect(at("0.0.0.0")).toBe("http://127.0.0.1:8080");
    expect(at("::1")).toBe("http://[::1]:8080");
    expect(at("10.0.0.7")).toBe("http://10.0.0.7:8080");
  });
});

describe("a probe of the API's port", () => {
  test("distinguishes this installation, another one, another program and nothing", async () => {
    const health = await answer(200, {
      ok: true,
      status: "warn",
      version: "0.1.0",
      checks: {
        queue: { status: "warn", detail: "redis is away" },
        store: { status: "pass", detail: "fine" },
        channels: { api: { id: "api", state: "failing", since: "2026-11-21T10:00:00.000Z", error: "no port" } },
      },
    });
    expect(await probeApi(health.url, "some-key")).toEqual({
      kind: "ours",
      status: "warn",
      version: "0.1.0",
      details: ["redis is away"],
      models: null,
      channels: { api: { state: "failing", since: "2026-11-21T10:00:00.000Z", error: "no port" } },
    });
    server?.close();
    const other = await answer(200, { ok: true, status: "pass", version: "0.1.0" });
    expect(await probeApi(other.url, "some-key")).toEqual({ kind: "stranger" });
    server?.close();
    const program = await answer(404, "nothing here");
    expect(await probeApi(program.url, null)).toEqual({ kind: "other_program" });
    expect(await probeApi(`http://127.0.0.1:${await freePort()}`, null)).toEqual({ kind: "nothing" });
  });
});

describe("SVC_URL and SVC_KEY", () => {
  const cliWith = (env: Record<string, string>) => ({ env, startWith: "npm start" }) as unknown as Cli;
  const env = {
    SVC_URL: "https://chat.example.com/",
    SVC_KEY: "key-of-a-caller-1",
    SVC_ADMIN_KEY: "key-of-an-administrator",
  };

  test("name the service that commands call, and their key", async () => {
    const named = { url: "https://chat.example.com", key: "key-of-a-caller-1" };
    expect(await makeApiTarget(cliWith(env), {})).toMatchObject(named);
    expect(await findRunningService(cliWith(env), { project: "shop" })).toMatchObject({ ...named, project: "shop" });
  });

  test("are overridden by --url, and only SVC_KEY applies to the tool server", async () => {
    expect(await makeApiTarget(cliWith(env), { url: "http://10.0.0.7" })).toMatchObject({ url: "http://10.0.0.7" });
    const tools = await makeToolsTarget(cliWith(env), {});
    expect(tools).toMatchObject({ url: expect.stringContaining("127.0.0.1"), key: "key-of-a-caller-1" });
  });

  test("count as unset if empty, and an invalid URL is a configuration error", async () => {
    const target = await makeApiTarget(cliWith({ ...env, SVC_URL: "", SVC_KEY: "" }), {});
    expect(target).toMatchObject({ url: expect.stringContaining("127.0.0.1"), key: "key-of-an-administrator" });
    await expect(makeApiTarget(cliWith({ ...env, SVC_URL: "chat" }), {})).rejects.toMatchObject({
      exitCode: EXIT.configuration,
      message: expect.stringContaining("SVC_URL"),
    });
  });
});
