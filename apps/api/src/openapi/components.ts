import type { Header, JsonSchema, Parameter, Reference } from "./openapi-document.ts";

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
