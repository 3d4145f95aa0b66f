import type { Header, JsonSchema, Reference } from "./openapi-document.ts";

const text: JsonSchema = { type: "string" };

/** Headers of answers, described once. */
export const HEADERS = {
  "X-Request-Id": { description: "Request ID. Identifies the request in the log.", required: true, schema: text },
  "RateLimit-Policy": {
    description: "Calls that are allowed: `q` in `w` seconds. Absent for a key without a limit.",
    schema: { ...text, examples: ['"default";q=120;w=60'] },
  },
  RateLimit: {
    description: "Calls that are left: `r` for `t` seconds. Absent for a key without a limit.",
    schema: { ...text, examples: ['"default";r=119;t=60'] },
  },
  "x-svc-project": { description: "Name of the project that the call worked on.", schema: text },
  ETag: {
    description: "Version of the object, to be sent as `If-Match`.",
    required: true,
    schema: { ...text, examples: ['"3"'] },
  },
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
  Allow: { description: "The methods that there are.", required: true, schema: { ...text, examples: ["GET, HEAD"] } },
  "WWW-Authenticate": { description: "What the key lacks.", schema: { ...text, examples: ['Bearer realm="svc"'] } },
} as const satisfies Record<string, Header>;
export type HeaderName = keyof typeof HEADERS;

/** Refers to these headers. */
export const headerRefs = (names: readonly HeaderName[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
