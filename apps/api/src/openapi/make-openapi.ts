import {
  CALLBACK_TYPES,
  ENDPOINTS,
  VERSION,
  callbackBodySchema,
  problemSchema,
  projectNameSchema,
} from "@svc/contracts";
import type { CallbackType, Endpoint } from "@svc/contracts";
import type { z } from "zod";
import { describeProblems } from "./describe-errors.ts";
import { HEADERS, PARAMETERS, SECURITY_SCHEMES } from "./components.ts";
import { describeOperation, schemaKeys } from "./describe-operation.ts";
import { describeSchemas } from "./describe-schemas.ts";
import { addExamples, makeExample } from "./examples.ts";
import type { JsonSchema, OpenApiDocument, OperationObject, Parameter, ResponseObject } from "./openapi-document.ts";

/** Title of the description. */
export const TITLE = "Message Channels Service";

const DESCRIPTION = `Messages arrive through channels, go through the same pipeline, and replies are returned to the sender.

**Authentication.** Most requests need an API key: \`Authorization: Bearer <key>\` or \`X-Api-Key: <key>\`. Each operation lists the scope that the key needs; \`admin:*\` includes all scopes.

**Errors.** All errors are \`application/problem+json\` (RFC 9457). In programs, use \`code\`, which never changes. An unsupported method returns 405, \`method_not_allowed\`; \`Allow\` lists the supported ones.

**Pagination.** \`limit\` sets the page size. Send \`nextCursor\` as \`cursor\` to get the next page; it is null on the last page.

**Concurrent changes.** Objects with a \`version\` return it as \`ETag\`. Send it as \`If-Match\` to avoid overwriting changes of others.

**Versioning.** Version 1 is only extended: ignore unknown fields.`;

/** Sections of the description, in reading order. */
const TAGS: Record<string, string> = {
  Messages: "Send messages and collect replies.",
  Tickets: "Conversations with their messages, status and decisions.",
  Reviews: "Decisions of operators on tickets: approve, edit or dismiss a draft, take over, assign.",
  Customers: "The people who write to a project, on every channel.",
  Tags: "Tags of tickets, with colors.",
  "Canned replies": "Reusable texts for replies, with actions.",
  Agents: "Agents with their knowledge bases, instructions and confidence thresholds.",
  "Tool calls": "Tools called by agents, and calls that wait for approval.",
  Knowledge: "Knowledge bases, their documents and search.",
  Models: "Language models: list them and pull them to Ollama.",
  Gaps: "Questions without a good answer.",
  Proposals: "Suggested changes to knowledge bases, from operators' answers.",
  Channels: "Channels and their settings.",
  Hooks: "Inbound webhooks for platforms with fixed formats.",
  Deliveries: "Callbacks: pending, delivered or failed.",
  Statistics: "Message and answer statistics.",
  Usage: "What a project uses by day.",
  Operators: "Operators and their roles.",
  Keys: "API keys with their scopes and projects.",
  Projects: "Projects separate tickets, agents and knowledge.",
  Audit: "Audit log of actions and denied requests.",
  Privacy: "Export or erase the personal data of a person.",
  Service: "Health, and the API description.",
};

const text: JsonSchema = { type: "string" };

/** Headers of a callback (service document, section 6). */
const CALLBACK_HEADERS: Record<string, { description: string; schema: JsonSchema }> = {
  "X-Svc-Signature": {
    description: "`sha256=` followed by the HMAC-SHA256 of the raw body, in hex.",
    schema: { ...text, pattern: "^sha256=[0-9a-f]{64}$" },
  },
  "X-Svc-Delivery": {
    description: "ID of the delivery, the same in all attempts.",
    schema: { ...text, format: "uuid" },
  },
  "X-Svc-Attempt": { description: "Number of the attempt.", schema: { type: "integer", minimum: 1 } },
  "webhook-id": { description: "ID of the delivery, as defined by Standard Webhooks.", schema: text },
  "webhook-timestamp": { description: "Unix time in seconds.", schema: text },
  "webhook-signature": { description: "One signature for each valid secret.", schema: text },
};

/** Describes the callbacks to a message's `webhookUrl`; their body is one of the named schemas. */
function describeWebhooks(schemas: Record<string, JsonSchema>): Record<string, { post: OperationObject }> {
  const body = { $ref: "#/components/schemas/CallbackBody" };
  const example = makeExample(body, schemas) as object;
  const parameters = Object.entries(CALLBACK_HEADERS).map(([name, header]): Parameter => ({
    name,
    in: "header",
    required: true,
    ...header,
  }));
  const describe = (type: CallbackType): OperationObject => ({
    operationId: `on${type.replaceAll(/[._](\w)|^(\w)/g, (_, inner?: string, first?: string) => (inner ?? first ?? "").toUpperCase())}`,
    tags: ["Callbacks"],
    summary: `Callback: ${type}`,
    description: CALLBACK_TYPES[type],
    security: [],
    parameters,
    requestBody: {
      description: "Result of the message.",
      required: true,
      content: {
        "application/json": {
          schema: {
            allOf: [body, { type: "object", properties: { type: { const: type } } }],
          },
          examples: { default: { value: { ...example, type } } },
        },
      },
    },
    responses: {
      "2XX": {
        description: "Received. Any other response, or none within 15 seconds, counts as a failure and is retried.",
      },
      "410": { description: "Gone: the callback is not retried, and its replies can be collected by polling." },
    },
  });
  const types = Object.keys(CALLBACK_TYPES) as CallbackType[];
  return Object.fromEntries(types.map((type) => [type, { post: describe(type) }]));
}

/** Returns the schemas of all endpoints, by the keys under which their operations find them. */
function collectSchemas(endpoints: readonly [string, Endpoint][]) {
  const input: Record<string, z.ZodType> = { project: projectNameSchema };
  const output: Record<string, z.ZodType> = { problem: problemSchema, callback: callbackBodySchema };
  for (const [name, { body, query, params, requestHeaders, answers }] of endpoints) {
    if (body !== undefined) input[schemaKeys.body(name)] = body.schema;
    if (query !== undefined) input[schemaKeys.query(name)] = query;
    if (params !== undefined) input[schemaKeys.params(name)] = params;
    if (requestHeaders !== undefined) input[schemaKeys.headers(name)] = requestHeaders;
    for (const [index, { schema, events = {} }] of answers.entries()) {
      if (schema !== null) output[schemaKeys.answer(name, index)] = schema;
      for (const [event, data] of Object.entries(events)) output[schemaKeys.event(name, event)] = data;
    }
  }
  return { input, output };
}

/** Returns the names of components that a text refers to. */
const namesIn = (text: string, kind: string) =>
  new Set([...text.matchAll(new RegExp(`"#/components/${kind}/([^"]+)"`, "g"))].map(([, name = ""]) => name));

/** Returns the components that the text or other components refer to. */
function usedOnly<Component>(components: Record<string, Component>, kind: string, text: string) {
  const used = new Set<string>();
  for (let open = [...namesIn(text, kind)]; open.length > 0;) {
    const name = open.pop() ?? "";
    if (used.has(name)) continue;
    used.add(name);
    open = [...open, ...namesIn(JSON.stringify(components[name] ?? null), kind)];
  }
  return Object.fromEntries(Object.entries(components).filter(([name]) => used.has(name)));
}

/**
 * Describes the HTTP API as OpenAPI 3.1, from the schemas that validate its requests. `serverUrl` is its URL without a
 * trailing slash; generated clients have no other address.
 */
export function makeOpenapi(serverUrl: string): OpenApiDocument {
  const endpoints = Object.entries(ENDPOINTS) as [string, Endpoint][];
  const schemas = describeSchemas(collectSchemas(endpoints));
  addExamples(Object.values(schemas).flatMap((named) => Object.values(named)));
  const paths: Record<string, Record<string, OperationObject>> = {};
  const responses: Record<string, ResponseObject> = {};
  const order = Object.keys(TAGS);
  const inOrder = endpoints.toSorted(([, one], [, other]) => order.indexOf(one.tag) - order.indexOf(other.tag));
  for (const [name, endpoint] of inOrder) {
    const { operation, errorAnswers } = describeOperation(name, endpoint, schemas);
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operation;
    Object.assign(responses, errorAnswers);
  }
  const webhooks = describeWebhooks(schemas.components);
  const used = new Set(endpoints.map(([, { tag }]) => tag));
  const text = JSON.stringify({ paths, responses, webhooks, parameters: PARAMETERS });
  return {
    openapi: "3.1.1",
    info: {
      title: TITLE,
      version: VERSION,
      summary: "The HTTP API: messages and administration.",
      description: DESCRIPTION,
      contact: { name: "The administrator of this installation" },
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl, description: "This installation." }],
    tags: [
      ...Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
      { name: "Callbacks", description: "Callbacks that the service sends to a message's `webhookUrl`." },
    ],
    paths,
    webhooks,
    components: {
      schemas: usedOnly(schemas.components, "schemas", text),
      parameters: usedOnly(PARAMETERS, "parameters", text),
      headers: usedOnly(HEADERS, "headers", text),
      examples: usedOnly(describeProblems(), "examples", text),
      responses,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}
