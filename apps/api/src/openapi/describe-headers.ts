import type { Header, JsonSchema, Reference } from "./openapi-document.ts";

const text: JsonSchema = { type: "string" };

/** Headers of answers, described once. */
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

/** Refers to these headers. */
export const headerRefs = (names: readonly HeaderName[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
