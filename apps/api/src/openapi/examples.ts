import type { JsonSchema } from "./openapi-document.ts";

/** Maximum depth of an example, since a schema may contain itself. */
const MAX_DEPTH = 24;

const BY_FORMAT: Record<string, unknown> = {
  uuid: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  "date-time": "2027-01-04T09:30:00.000Z",
  date: "2027-01-04",
  email: "ada@example.org",
  uri: "https://example.org/page",
};

/** Examples of fields with these names. */
const BY_NAME: Record<string, unknown> = {
  id: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  project: "default",
  homeProject: "default",
  url: "https://example.org/page",
  sitemap: "https://example.org/sitemap.xml",
  language: "en",
  locale: "en",
  mime: "text/plain",
  filename: "notes.txt",
  base64: "SGVsbG8u",
  drainUrl: "/api/v1/messages/customer-17",
  chatId: "customer-17",
  userId: "u-17",
  name: "Example",
  title: "Opening hours",
  text: "We are open from 9 to 5.",
  subject: "When are you open?",
  question: "When are you open?",
  actor: "key:01a1fe7b-4312-7362-b590-0b7f11541fa3",
  channelId: "api",
  email: "ada@example.org",
  ticketId: "5c0e6d0e-7d49-5a57-9d3f-0f1f1a4f2a11",
  messageId: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  agentId: "01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e01",
  kbId: "01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e02",
  documentId: "01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
  chunkId: "01a1fe60-0a1b-7c2d-8e3f-5b6c7d8e9fa0",
  inReplyTo: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  requestId: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  fileId: "01a1fe7b-4312-7362-b590-0b7f11541fa4",
  kbIds: "01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e02",
  nextCursor: "eyJhdCI6MTc5OTAwMDAwMH0",
  cursor: "1",
  head: "3f6d2b7c9e10",
  next: "200",
  createdAt: "2027-01-04T09:30:00.000Z",
  at: "2027-01-04T09:30:00.000Z",
  from: "2027-01-01T00:00:00.000Z",
  to: "2027-02-01T00:00:00.000Z",
  day: "2027-01-04",
  reason: "The opening hours have changed.",
  why: 'Quotes "Opening hours", confidence 92%.',
  sendsWhy: "confidence 92%",
  assignee: "operator:01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e03",
  createdBy: "key:01a1fe7b-4312-7362-b590-0b7f11541fa3",
  decidedBy: "operator:01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e03",
  model: "ollama:qwen3:8b",
  catalogId: "qwen3:8b",
  provider: "ollama",
  purpose: "answer",
  greeting: "Hello! How can we help?",
  handoffText: "An operator will answer you soon.",
  handoffTexts: { de: "Ein Mensch antwortet Ihnen bald." },
  fixedReply: "We are closed until Monday.",
  description: "Questions about opening hours and delivery.",
  instructions: "Answer in two sentences.",
  input: "When are you open?",
  context: "Do you deliver on Saturdays?",
  webhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  identitySecret: "a-secret-of-at-least-16-characters",
  secret: "a-secret-of-at-least-16-characters",
  botToken: "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11",
  apiKey: "wk_4f9d2c7b1a8e6053",
  key: "opening-hours-2027",
  prefix: "svc_4f9d",
  token: "b3BlbiBzZXNhbWU",
  path: "/orders/{orderId}",
  openapi: "3.1.1",
  type: "urn:svc:error:invalid_request",
  code: "invalid_request",
  pointer: "/text",
  detail: "must not be empty or only whitespace",
  instance: "/api/v1/messages",
  action: "agents.create",
  object: "01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e01",
  result: "ok",
  network: "203.0.113.0/24",
  folder: "guide",
  error: "The bot token is not valid.",
  fault: "timeout",
  failure: "The receiver responded with 503.",
  status: "downloading",
  color: "#3366ff",
  version: "0.1.0",
  contentType: "application/json",
  body: '{"order":49}',
  eventId: "evt_49",
  header: "X-Hub-Signature-256",
  webhookUrl: "https://example.org/callbacks",
  content: "We are open from 9 to 5.",
  confirm: "default",
  before: "We are open from 9 to 5.",
  after: "We are open from 9 to 6.",
  diff: "-We are open from 9 to 5.\n+We are open from 9 to 6.",
  replaces: "We are open from 9 to 5.",
  quote: "We are open from 9 to 5.",
  excerpt: "We are open from 9 to 5.",
  tool: "find_order",
  allowedOrigins: "https://www.example.com",
};

const isNull = ({ type }: JsonSchema) => type === "null";

function exampleOfString({ format, minLength = 0 }: JsonSchema, name: string): unknown {
  const known = (typeof format === "string" ? BY_FORMAT[format] : undefined) ?? BY_NAME[name];
  if (typeof known === "string") return known;
  return "text".padEnd(Number(minLength), "x");
}

/** Returns an example of a schema, always the same. */
export function makeExample(
  schema: JsonSchema,
  components: Record<string, JsonSchema>,
  { name = "", depth = 0 }: { name?: string; depth?: number } = {},
): unknown {
  const inside = (child: JsonSchema, childName = name) =>
    makeExample(child, components, { name: childName, depth: depth + 1 });
  const [example] = Array.isArray(schema["examples"]) ? (schema["examples"] as unknown[]) : [];
  const stated = schema.const ?? example ?? schema["default"] ?? schema.enum?.[0];
  if (stated !== undefined) return stated;
  if (schema.$ref !== undefined) return inside(components[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return inside(choices.find((choice) => !isNull(choice)) ?? {});
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => inside(part)));
  const types = [schema.type ?? []].flat();
  const type = types.find((one) => one !== "null");
  if (type === "object") {
    const fields = Object.entries(schema.properties ?? {});
    return Object.fromEntries(depth > MAX_DEPTH ? [] : fields.map(([field, child]) => [field, inside(child, field)]));
  }
  if (type === "array") return schema.items === undefined || depth > MAX_DEPTH ? [] : [inside(schema.items)];
  if (type === "integer" || type === "number") return schema["minimum"] ?? 1;
  if (type === "boolean") return true;
  return type === "string" ? exampleOfString(schema, name) : null;
}

const isObject = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

/** Keywords that already show a value. */
const SHOWN_BY = ["examples", "const", "enum", "default", "$ref", "anyOf", "oneOf", "allOf", "not"];

/** Returns true if a text has the pattern and length of its field. */
function isPossible(example: unknown, { pattern, minLength, maxLength }: JsonSchema): boolean {
  if (typeof example !== "string") return true;
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(example)) return false;
  return example.length >= Number(minLength ?? 0) && example.length <= Number(maxLength ?? Infinity);
}

/**
 * Adds an example to each field with a text, a number or a boolean, in place, so that generated documentation and requests
 * have realistic values. Fields that already show a value are unchanged.
 */
export function addExamples(value: unknown): void {
  if (Array.isArray(value)) value.forEach(addExamples);
  if (!isObject(value)) return;
  for (const [name, field] of Object.entries(isObject(value.properties) ? value.properties : {})) {
    const types = [field.type ?? []].flat();
    const isPlain = types.some((type) => ["string", "integer", "number", "boolean"].includes(type));
    if (isPlain && SHOWN_BY.every((keyword) => field[keyword] === undefined)) {
      const example = makeExample(field, {}, { name });
      if (isPossible(example, field)) field["examples"] = [example];
    }
    // The example of a nullable field belongs to its other type.
    for (const choice of field.anyOf ?? []) {
      addExamples({ properties: { [name]: choice } });
    }
    if (field.items !== undefined && types.includes("array")) addExamples({ properties: { [name]: field.items } });
  }
  for (const [keyword, child] of Object.entries(value)) {
    // Fields may have names of keywords.
    if (keyword === "properties" && isObject(child)) Object.values(child).forEach(addExamples);
    else if (!["examples", "default", "const", "enum"].includes(keyword)) addExamples(child);
  }
}
