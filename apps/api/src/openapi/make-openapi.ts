import { ENDPOINTS, VERSION, callbackBodySchema, problemSchema, projectNameSchema } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import type { z } from "zod";
import { addExamples } from "./add-examples.ts";
import { describeProblems } from "./describe-errors.ts";
import { HEADERS } from "./describe-headers.ts";
import { PARAMETERS, describeOperation, schemaKeys } from "./describe-operation.ts";
import { describeSchemas } from "./describe-schemas.ts";
import { describeWebhooks } from "./describe-webhooks.ts";
import type { OpenApiDocument, OperationObject, ResponseObject } from "./openapi-document.ts";
import { TAGS } from "./tags.ts";

const DESCRIPTION = `Messages arrive through channels, go through the same pipeline, and replies are returned to the sender.
**Authentication.** Most requests need an API key: \`Authorization: Bearer <key>\` or \`X-Api-Key: <key>\`. Each operation lists the scope that the key needs; \`admin:*\` includes all scopes.
**Errors.** All errors are \`application/problem+json\` (RFC 9457). In programs, use \`code\`, which never changes. An unsupported method returns 405, \`method_not_allowed\`; \`Allow\` lists the supported ones.
**Pagination.** \`limit\` sets the page size. Send \`nextCursor\` as \`cursor\` to get the next page; it is null on the last page.
**Concurrent changes.** Objects with a \`version\` return it as \`ETag\`. Send it as \`If-Match\` to avoid overwriting changes of others.
**Versioning.** Version 1 is only extended: ignore unknown fields.`;

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key as `Authorization: Bearer <key>`." },
  apiKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "An API key as `X-Api-Key: <key>`." },
};

/** The schemas of all endpoints, by the keys under which their operations look for them. */
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

/** The names of components that a text refers to. */
const namesIn = (text: string, kind: string) =>
  new Set([...text.matchAll(new RegExp(`"#/components/${kind}/([^"]+)"`, "g"))].map(([, name = ""]) => name));

/** Only what is referred to, by these or by one another. */
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
 * Describes the HTTP API as OpenAPI 3.1, from the schemas that check its requests. `serverUrl` is where it is reached,
 * without a slash at the end: clients that are generated from a file have no other address.
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
      title: "Message Channels Service",
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
