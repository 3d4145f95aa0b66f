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
