import { z } from "zod";
import { keyInputSchema, keyItemSchema, rotateInputSchema } from "../key.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Keys";
const PATH = "/api/v1/admin/keys";

const newKeySchema = keyItemSchema.extend({
  key: z.string().optional().describe("The key itself. Shown only once. Absent for imported keys."),
});

/** API keys (service document, section 4.4). */
export const keyEndpoints = {
  listKeys: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List the keys of all projects, newest first",
    scope: "admin:*",
    query: listQuerySchema,
    answers: [listAnswer(keyItemSchema)],
  },
  createKey: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create or import a key",
    scope: "admin:*",
    body: { schema: keyInputSchema },
    answers: [createdAnswer(newKeySchema)],
    example: { body: { name: "website", scopes: ["messages:write", "messages:read"] } },
  },
  getKey: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a key",
    scope: "admin:*",
    answers: [itemAnswer(keyItemSchema)],
  },
  revokeKey: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Revoke a key",
    scope: "admin:*",
    answers: [itemAnswer(keyItemSchema)],
  },
  rotateKey: {
    method: "POST",
    path: `${PATH}/{id}/rotate`,
    tag,
    summary: "Rotate a key",
    scope: "admin:*",
    body: { schema: rotateInputSchema, isOptional: true },
    answers: [createdAnswer(newKeySchema, `${PATH}/{id}`)],
    example: { body: { overlapSeconds: 3600 } },
  },
} as const satisfies Record<string, Endpoint>;
