import {
  CALLBACK_TYPES,
  ENDPOINTS,
  EVENT_TYPES,
  TEST_EVENT,
  VERSION,
  callbackBodySchema,
  problemSchema,
  projectNameSchema,
  webhookEventSchema,
} from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import type { z } from "zod";
import { describeProblems, describeSchemas } from "./describe-schemas.ts";
import { HEADERS, PARAMETERS, SECURITY_SCHEMES } from "./openapi-document.ts";
import { describeOperation, schemaKeys } from "./describe-operation.ts";
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
  Articles: "Texts that operators write for knowledge bases, with versions, images and a review.",
  Proposals: "Suggested changes to knowledge bases, from operators' answers.",
  Channels: "Channels and their settings.",
  Hooks: "Inbound webhooks for platforms with fixed formats.",
  Webhooks: "URLs that receive the events of a project.",
  Deliveries: "Callbacks and events: pending, delivered or failed.",
  Statistics: "Message and answer statistics.",
  Usage: "What a project uses by day.",
  Email: "Test of the mail server.",
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

/** Common parts of the requests of one kind. */
interface WebhookKind {
  tag: string;
  summary: string;
  /** Name of the schema of their body. */
  name: string;
  /** Effect of a 410. */
  failed: string;
}

const CALLBACK: WebhookKind = {
  tag: "Callbacks",
  summary: "Callback",
  name: "CallbackBody",
  failed: "the callback is not retried, and its replies can be collected by polling.",
};
const EVENT: WebhookKind = {
  tag: "Events",
  summary: "Event",
  name: "WebhookEvent",
  failed: "the event is not retried. It can be replayed.",
};
const TEST = "Somebody tests the webhook.";

/** Describes the callbacks to a message's `webhookUrl` and the events of webhooks; their bodies are named schemas. */
function describeWebhooks(schemas: Record<string, JsonSchema>): Record<string, { post: OperationObject }> {
  const parameters = Object.entries(CALLBACK_HEADERS).map(([name, header]): Parameter => ({
    name,
    in: "header",
    required: true,
    ...header,
  }));
  const describe = (
    type: string,
    description: string,
    { tag, summary, name, failed }: WebhookKind,
  ): OperationObject => {
    const body = { $ref: `#/components/schemas/${name}` };
    return {
      operationId: `on${type.replaceAll(/[._](\w)|^(\w)/g, (_, inner?: string, first?: string) => (inner ?? first ?? "").toUpperCase())}`,
      tags: [tag],
      summary: `${summary}: ${type}`,
      description,
      security: [],
      parameters,
      requestBody: {
        description: `${summary} as JSON.`,
        required: true,
        content: {
          "application/json": {
            schema: {
              allOf: [body, { type: "object", properties: { type: { const: type } } }],
            },
            examples: { default: { value: { ...(makeExample(body, schemas) as object), type } } },
          },
        },
      },
      responses: {
        "2XX": {
          description: "Received. Any other response, or none within 15 seconds, counts as a failure and is retried.",
        },
        "410": { description: `Gone: ${failed}` },
      },
    };
  };
  const all = (types: Record<string, string>, kind: WebhookKind) =>
    Object.entries(types).map(([type, description]) => [type, { post: describe(type, description, kind) }] as const);
  return Object.fromEntries([...all(CALLBACK_TYPES, CALLBACK), ...all({ ...EVENT_TYPES, [TEST_EVENT]: TEST }, EVENT)]);
}

/** Returns the schemas of all endpoints, by the keys under which their operations find them. */
function collectSchemas(endpoints: readonly [string, Endpoint][]) {
  const input: Record<string, z.ZodType> = { project: projectNameSchema };
  const output: Record<string, z.ZodType> = {
    problem: problemSchema,
    callback: callbackBodySchema,
    event: webhookEventSchema,
  };
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
      { name: "Events", description: "Events that the service sends to the webhooks of a project." },
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
