import { expect } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";

/** A JSON Schema in the description. */
export interface DescribedSchema {
  [keyword: string]: unknown;
  $ref?: string;
  properties?: Record<string, DescribedSchema>;
}

interface DescribedMedia {
  schema: DescribedSchema;
  examples?: Record<string, { value?: unknown; $ref?: string }>;
}

interface DescribedResponse {
  description: string;
  headers?: Record<string, { required?: boolean; $ref?: string }>;
  content?: Record<string, DescribedMedia>;
}

/** An operation in the description. */
export interface DescribedOperation {
  operationId: string;
  tags: string[];
  description?: string;
  security: object[];
  "x-required-scope"?: string | null;
  parameters?: ({ name: string; in: string; schema: DescribedSchema } | { $ref: string })[];
  requestBody?: { content: Record<string, DescribedMedia> };
  responses: Record<string, DescribedResponse | { $ref: string }>;
}

/** The served description of the API. */
export interface DescribedDocument {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  webhooks: Record<string, { post: DescribedOperation }>;
  components: {
    schemas: Record<string, DescribedSchema>;
    responses: Record<string, DescribedResponse>;
    headers: Record<string, { required?: boolean }>;
    examples: Record<string, { value: unknown }>;
  };
}

const PROBLEM = "application/problem+json";
const COMPONENTS = "urn:svc:components";

/**
 * Returns a schema for checking responses: it allows no unknown fields, although clients are told to ignore them, and
 * refers to the components at their new location.
 */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, child]): [string, unknown] =>
    key === "$ref"
      ? [key, String(child).replace("#/components/schemas/", `${COMPONENTS}#/$defs/`)]
      : [key, strict(child)],
  );
  const isOpenObject = "properties" in value && "type" in value && !("additionalProperties" in value);
  return Object.fromEntries([...entries, ...(isOpenObject ? [["additionalProperties", false]] : [])]);
}

/** Reads the description of the API from a running server; the result checks responses against it. */
export async function readDescription(baseUrl: string) {
  const served = await callApi(`${baseUrl}/api/v1/openapi.json`);
  const document = JSON.parse(served.text) as DescribedDocument;
  const { components } = document;
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false });
  // TypeScript and the JavaScript module disagree on whether the function is the `default` export.
  const add = "default" in addFormats ? addFormats.default : addFormats;
  (add as (target: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: COMPONENTS, $defs: strict(components.schemas) as Record<string, object> });
  const compiled = new WeakMap<object, ValidateFunction>();

  /** Returns the errors of a value for a schema of the document; empty if it matches and has no other fields. */
  function errorsOf(schema: DescribedSchema, value: unknown): string[] {
    const validate = compiled.get(schema) ?? ajv.compile(strict(schema) as object);
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = "", params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  const nameOf = (ref: string) => ref.split("/").at(-1) ?? "";
  const responseOf = (operation: DescribedOperation, status: number): DescribedResponse | undefined => {
    const found = operation.responses[status];
    return found !== undefined && "$ref" in found ? components.responses[nameOf(found.$ref)] : found;
  };
  const isRequired = (header: { required?: boolean; $ref?: string }) =>
    (header.$ref === undefined ? header : components.headers[nameOf(header.$ref)])?.required === true;

  /** Checks that a response matches the description of the operation: status, headers, media type and body. */
  function expectDescribed(operation: DescribedOperation, answer: ApiAnswer): void {
    const response = responseOf(operation, answer.status);
    const what = `${operation.operationId} ${answer.status} ${answer.text.slice(0, 2_000)}`;
    if (response === undefined) throw new Error(`No such answer is described: ${what}`);
    const { headers = {}, content } = response;
    const missing = Object.entries(headers).filter(([name, header]) => isRequired(header) && !answer.headers.has(name));
    expect({ what, missing: missing.map(([name]) => name) }).toEqual({ what, missing: [] });
    const documented = ["etag", "location", "retry-after", "idempotent-replayed", "www-authenticate", "ratelimit"];
    const known = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
    const strange = documented.filter((name) => answer.headers.has(name) && !known.has(name));
    expect({ what, strange }).toEqual({ what, strange: [] });
    const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
    if (content === undefined) {
      expect({ what, text: answer.text }).toEqual({ what, text: "" });
      return;
    }
    const media = content[type];
    if (media === undefined) throw new Error(`${type} is not described: ${what}`);
    const body: unknown = type.endsWith("json") ? answer.body : answer.text;
    expect({ what, errors: errorsOf(media.schema, body) }).toEqual({ what, errors: [] });
    if (type === PROBLEM) {
      const codes = Object.keys(media.examples ?? {});
      expect({ what, codes }).toEqual({ what, codes: expect.arrayContaining([answer.body.code]) });
    }
  }

  return { document, served, faultsOf: errorsOf, responseOf, expectDescribed };
}
export type Description = Awaited<ReturnType<typeof readDescription>>;
