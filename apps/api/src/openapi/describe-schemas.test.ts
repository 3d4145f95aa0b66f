import { describe, expect, test } from "@jest/globals";
import { agentInputSchema, chatIdSchema, messageRequestSchema, projectNameSchema } from "@svc/contracts";
import { z } from "zod";
import { describeSchemas } from "./describe-schemas.ts";

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
