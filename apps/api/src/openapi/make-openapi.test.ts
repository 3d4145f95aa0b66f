import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { ENDPOINTS } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import { closeResources, loadConfig, openResources } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import { createTestDatabase, createTestQueueBackend, freePort, repositoryPath, testLog } from "@svc/testing";
import express from "express";
import type { IRoute } from "express";
import { apiService } from "../service.ts";
import { makeOpenapi } from "./make-openapi.ts";

const document = makeOpenapi("https://api.example.com");

/** A method and a path, as in `GET /api/v1/health`. */
type Address = string;

const described: Address[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
);

describe("the description", () => {
  test("has each endpoint once", () => {
    const endpoints: Endpoint[] = Object.values(ENDPOINTS);
    expect(described.toSorted()).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  test("is the same each time it is made", () => {
    expect(JSON.stringify(makeOpenapi("https://api.example.com"))).toBe(JSON.stringify(document));
  });

  test("has no dangling references and no unused components", () => {
    const { securitySchemes: _schemes, ...components } = document.components;
    const had = Object.entries(components).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    const references = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
    expect(had.toSorted()).toEqual([...references].toSorted());
  });

  test("has the errors of docs/errors.md", () => {
    const page = readFileSync(repositoryPath("docs/errors.md"), "utf8");
    const rows = [...page.matchAll(/^\| \d{3} \| `(\w+)` \|/gm)].map(([, code]) => code);
    const { code } = document.components.schemas["Problem"]?.properties ?? {};
    expect(new Set(rows)).toEqual(new Set(code?.enum));
  });

  test("contains only values that JSON can represent", () => {
    expect(JSON.stringify(document)).not.toMatch(/undefined|\[object |NaN/);
  });
});

type Json = { [name: string]: unknown };

/** Yields every object within a value. */
function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const child of Object.values(value)) yield* objectsIn(child);
}

describe("for generated clients, the description", () => {
  test.each([
    ["/api/v1/messages", "post"],
    ["/api/v1/messages/{chatId}", "get"],
    ["/api/v1/admin/models/{catalogId}/pull", "get"],
  ])("has one type for the 200 of %s %s, and its event stream beside it", (path, method) => {
    const answer = document.paths[path]?.[method]?.responses["200"];
    expect(answer).toMatchObject({ content: { "application/json": {} }, "x-event-stream": { schema: {} } });
    expect(Object.keys((answer as { content: object }).content)).toEqual(["application/json"]);
  });

  test("names the server and a contact", () => {
    expect(document.servers).toMatchObject([{ url: "https://api.example.com" }]);
    expect(document.info.contact.name).not.toBe("");
  });

  test("has an example for each field of a body with a primitive value", () => {
    const shown = ["examples", "const", "enum", "default", "pattern", "not"];
    const without = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      [...objectsIn(schema)].flatMap(({ properties = {} }) =>
        Object.entries(properties as Record<string, Json>).flatMap(([field, { type, ...rest }]) =>
          ["string", "integer", "number", "boolean"].includes(String(type)) && !shown.some((key) => key in rest)
            ? [`${name}.${field}`]
            : [],
        ),
      ),
    );
    expect(without).toEqual([]);
  });
});

describe("the routes of the service", () => {
  let resources: Resources;
  let cleanUp: () => Promise<void>;

  beforeAll(async () => {
    const database = await createTestDatabase();
    const queues = await createTestQueueBackend();
    const config = loadConfig({
      DATABASE_URL: database.url,
      ...(queues.redisUrl === undefined ? {} : { REDIS_URL: queues.redisUrl }),
      SVC_QUEUE_PREFIX: queues.prefix,
      SVC_SECRET_KEY: "a-secret-key-of-48-characters-0123456789abcdefgh",
      SVC_API_PORT: String(await freePort()),
    });
    resources = await openResources(config, { app: "api", log: testLog() });
    cleanUp = async () => {
      await closeResources(resources);
      await queues.stop();
      await database.drop();
    };
  });

  afterAll(() => cleanUp());

  test("are all described, and no others", async () => {
    const makeRoute = jest.spyOn(express.Router.prototype as { route(path: string): IRoute }, "route");
    const running = await apiService(resources).start();
    try {
      const found = makeRoute.mock.results.flatMap(({ value }): Address[] => {
        const { path, stack } = value as { path: string; stack: { method?: string }[] };
        // A route for all methods rejects unsupported ones.
        const methods = stack.flatMap(({ method }) => (method === undefined ? [] : [method.toUpperCase()]));
        return methods.map((method) => `${method} ${path}`);
      });
      // A hook's id has another name in its route.
      const asRouted = described.map((address) => address.replaceAll(/\{\w+\}/g, ":id"));
      // The script of the page is part of it.
      const expected = [...asRouted, "GET /api/v1/docs/reader.js"];
      expect(found.map((address) => address.replaceAll(/:\w+/g, ":id")).toSorted()).toEqual(expected.toSorted());
    } finally {
      makeRoute.mockRestore();
      await running.stop();
    }
  });
});
