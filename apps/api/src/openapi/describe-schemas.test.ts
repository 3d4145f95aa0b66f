import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { agentInputSchema, chatIdSchema, ENDPOINTS, messageRequestSchema, projectNameSchema } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import { describeSchemas, errorsOf } from "./describe-schemas.ts";

const describeOutput = (schema: z.ZodType) => describeSchemas({ input: {}, output: { it: schema } });
const describeInput = (schema: z.ZodType) => describeSchemas({ input: { it: schema }, output: {} });

describe("a schema", () => {
  test("that the contracts export is a component with its name", () => {
    const { input, components } = describeInput(z.object({ project: projectNameSchema.optional() }));
    expect(input["it"]).toEqual({
      type: "object",
      properties: { project: { $ref: "#/components/schemas/ProjectName" } },
    });
    expect(Object.keys(components)).toEqual(["ProjectName"]);
  });

  test("contains the limits of custom checks", () => {
    const { components } = describeInput(messageRequestSchema);
    expect(components["MessageRequest"]?.properties).toMatchObject({
      text: { type: "string", minLength: 1, maxLength: 50_000, pattern: String.raw`\S` },
      chatId: { $ref: "#/components/schemas/ChatId" },
      meta: { $ref: "#/components/schemas/Meta" },
    });
    expect(components["ChatId"]).toMatchObject({ minLength: 1, maxLength: 200, not: { enum: [".", ".."] } });
    expect(components["Meta"]).toMatchObject({ type: "object", additionalProperties: true });
  });

  test("rejects other fields if the service does, and allows new fields in responses", () => {
    expect(describeInput(agentInputSchema).components["AgentInput"]).toMatchObject({ additionalProperties: false });
    expect(describeInput(messageRequestSchema).components["MessageRequest"]).not.toHaveProperty("additionalProperties");
    expect(describeOutput(z.object({ id: z.string() })).output["it"]).not.toHaveProperty("additionalProperties");
    const answer = describeOutput(z.object({}).catchall(z.int()));
    expect(answer.output["it"]).toMatchObject({ additionalProperties: { type: "integer" } });
  });

  test("of a number in text form describes the number", () => {
    const wait = z.string().regex(/^\d+$/).transform(Number).optional().meta({ type: "integer", minimum: 0 });
    const { input } = describeInput(z.object({ wait }));
    expect(input["it"]?.properties).toEqual({ wait: { type: "integer", minimum: 0 } });
  });

  test("has no pattern beside a format, and no limits that every number has", () => {
    const { output } = describeOutput(z.object({ id: z.uuid(), at: z.iso.datetime(), count: z.int() }));
    expect(output["it"]?.properties).toEqual({
      id: { type: "string", format: "uuid" },
      at: { type: "string", format: "date-time" },
      count: { type: "integer" },
    });
  });

  test("keeps its own description beside a reference", () => {
    const { input } = describeInput(z.object({ chat: chatIdSchema.describe("Which one.") }));
    expect(input["it"]?.properties).toEqual({
      chat: { $ref: "#/components/schemas/ChatId", description: "Which one." },
    });
  });
});

const PLAIN: Endpoint = { method: "GET", path: "/api/v1/things", tag: "", summary: "", scope: "kb:read", answers: [] };
const ofKeys = ["ambiguous_credentials", "invalid_key", "missing_key", "project_mismatch", "rate_limited"];
const ofAll = [...ofKeys, "insufficient_scope", "internal", "not_found", "busy", "unavailable"];
const ofBodies = ["invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type"];

test.each<[string, Partial<Endpoint>, string[]]>([
  ["needs a key with a scope", {}, ofAll],
  ["needs a key, whatever its scopes", { scope: null }, ofAll.filter((code) => code !== "insufficient_scope")],
  ["names an object", { path: "/api/v1/things/{id}" }, [...ofAll, "invalid_request"]],
  ["takes a query", { query: z.object({}) }, [...ofAll, "invalid_request"]],
  ["takes a body", { body: { schema: z.object({}) } }, [...ofAll, ...ofBodies]],
  ["changes a version", { ifMatch: true }, [...ofAll, "invalid_request", "version_conflict"]],
  ["says of another one", { errors: ["channel_disabled"] }, [...ofAll, "channel_disabled"]],
  ["needs no key", { scope: null, isPublic: true }, ["internal", "method_not_allowed"]],
  [
    "needs no key and names an object",
    { scope: null, isPublic: true, path: "/api/v1/things/{id}" },
    ["internal", "not_found", "busy", "unavailable"],
  ],
])("an endpoint that %s can answer these errors", (_title, fields, codes) => {
  expect(new Set(errorsOf({ ...PLAIN, ...fields }))).toEqual(new Set(codes));
});

test("lists each error once, in the order of the catalog", () => {
  for (const endpoint of Object.values(ENDPOINTS)) {
    const codes = errorsOf(endpoint);
    expect(new Set(codes).size).toBe(codes.length);
  }
});
