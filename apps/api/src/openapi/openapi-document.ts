/** The part of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1) that the description of the API uses. */

/** A JSON Schema of draft 2020-12, with the keywords that the description uses. */
export interface JsonSchema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  additionalProperties?: boolean | JsonSchema;
  enum?: unknown[];
  const?: unknown;
}

/** A reference to a component. */
export interface Reference {
  $ref: string;
}

export interface ExampleValue {
  summary?: string;
  value: unknown;
}

export interface MediaType {
  schema: JsonSchema;
  examples?: Record<string, ExampleValue | Reference>;
}

export interface Header {
  description: string;
  /** True if every response has it. */
  required?: boolean;
  schema: JsonSchema;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: string | number;
}

export interface RequestBody {
  description: string;
  required: boolean;
  content: Record<string, MediaType>;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, MediaType>;
  /**
   * The event stream that replaces the JSON if the caller accepts `text/event-stream`. It is outside of `content` so
   * that generated clients have one type for the response.
   */
  "x-event-stream"?: MediaType;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: RequestBody;
  responses: Record<string, ResponseObject | Reference>;
  /** Scope that the key needs; null for an operation that needs a key without a scope. */
  "x-required-scope"?: string | null;
}

export interface SecurityScheme {
  type: string;
  description: string;
  scheme?: string;
  in?: string;
  name?: string;
}

/** An OpenAPI 3.1 document. Paths and webhooks have their operations by method in lower case. */
export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    contact: { name: string };
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, JsonSchema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    examples: Record<string, ExampleValue>;
    responses: Record<string, ResponseObject>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

const text: JsonSchema = { type: "string" };

/** Headers of responses. */
export const HEADERS = {
  "X-Request-Id": { description: "Request ID. Identifies the request in the log.", required: true, schema: text },
  "RateLimit-Policy": {
    description: "Allowed requests: `q` per `w` seconds. Absent for keys without a limit.",
    schema: { ...text, examples: ['"default";q=120;w=60'] },
  },
  RateLimit: {
    description: "Remaining requests: `r` for `t` seconds. Absent for keys without a limit.",
    schema: { ...text, examples: ['"default";r=119;t=60'] },
  },
  "x-svc-project": { description: "Name of the project that handled the request.", schema: text },
  ETag: {
    description: "Version of the object. Send it as `If-Match`.",
    required: true,
    schema: { ...text, examples: ['"3"'] },
  },
  "Retry-After": {
    description: "Seconds to wait before the next attempt.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
  Allow: { description: "Allowed methods.", required: true, schema: { ...text, examples: ["GET, HEAD"] } },
  "WWW-Authenticate": {
    description: "Authentication challenge: what the key lacks.",
    schema: { ...text, examples: ['Bearer realm="svc"'] },
  },
} as const satisfies Record<string, Header>;
export type HeaderName = keyof typeof HEADERS;

/** Returns references to these headers. */
export const headerRefs = (names: readonly HeaderName[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Parameters that many operations take. */
export const PARAMETERS = {
  Project: {
    name: "x-svc-project",
    in: "header",
    required: false,
    description:
      "Name of the project. An administrator's key can use any project and defaults to `default`; other keys are bound to one project and can omit it.",
    schema: { $ref: "#/components/schemas/ProjectName" },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: false,
    description: "`ETag` of the version to change. The response is 412 if the object has a newer version.",
    schema: { type: "string", examples: ['"3"'] },
  },
  RequiredIfMatch: {
    name: "If-Match",
    in: "header",
    required: true,
    description: "`ETag` of the version that was reviewed. The response is 412 if the object has a newer version.",
    schema: { type: "string", examples: ['"3"'] },
  },
} as const satisfies Record<string, Parameter>;

/** Returns a reference to a parameter. */
export const parameterRef = (name: keyof typeof PARAMETERS): Reference => ({ $ref: `#/components/parameters/${name}` });

/** Ways to send an API key. */
export const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key as `Authorization: Bearer <key>`." },
  apiKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "An API key as `X-Api-Key: <key>`." },
};
