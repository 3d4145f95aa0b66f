import { z } from "zod";
import { routesAt } from "./endpoint.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";

/** Version of the product, as reported by health, callbacks and the tool server. */
export const VERSION = "0.1.0";

/** Stops what `start` has started. Resolves when everything is stopped; safe to call twice. */
export type Stop = () => Promise<void>;

/** The service that an app exports. It runs alone or with others in one process. */
export interface Service {
  readonly name: string;
  /** Resolves when the service is ready. */
  start(): Promise<RunningService>;
}

/** A running service. */
export interface RunningService {
  stop: Stop;
  /** Returns why the service is not ready, in words, or null if it is ready. */
  findProblem?(): Promise<string | null>;
  /** Called first during shutdown, before any `stop`: from now on the service reports that it is not ready. */
  drain?(): void;
  /** URLs to show to people, by name. */
  urls?: Record<string, string>;
  /** Addresses that could not be opened at startup, by name, each with a sentence that says why and what to do. */
  problems?: Record<string, string>;
}

/** Health of a component, or of the service: the worst of its components. */
export const healthStatusSchema = z.enum(["pass", "warn", "fail"]);

/** Health of one component. */
export const healthCheckSchema = z.object({
  status: healthStatusSchema,
  detail: z.string().describe("Explanation for people."),
});

/** State of a channel in the process that runs it. */
export const runningChannelSchema = z.object({
  id: z.string(),
  state: z.enum(["running", "stopped", "failing"]),
  since: z.iso.datetime(),
  error: z.string().nullable().describe("Explanation of the failure, while it is failing."),
});

/** Response of `GET /api/v1/health` (service document, section 4.1). */
export const healthAnswerSchema = z.object({
  ok: z.boolean().describe("False if messages cannot be accepted."),
  status: healthStatusSchema,
  version: z.string(),
  time: z.iso.datetime(),
  checks: z
    .record(z.string(), z.union([healthCheckSchema, z.record(z.string(), runningChannelSchema)]))
    .optional()
    .describe("State of each component, and of each channel in `channels`. Only for administrators."),
});
export type HealthAnswer = z.infer<typeof healthAnswerSchema>;

/** Not modified since the version that the caller has. */
const unchangedAnswer: EndpointAnswer = {
  status: 304,
  when: "Not modified since the version in `If-None-Match`.",
  schema: null,
  headers: { ETag: "Changes with the content." },
};

const noneMatch = z.object({
  "If-None-Match": z.string().optional().describe("The `ETag` of an earlier response."),
});

const route = routesAt("Service", "/api/v1");

/** Health, and the description of the API itself (service document, section 4.1). */
export const serviceEndpoints = {
  getHealth: {
    ...route("GET /health", null, "Check whether the service accepts messages"),
    description: "With an administrator's key, the response contains the state of each component.",
    isPublic: true,
    answers: [
      {
        status: 200,
        when: "Messages are accepted. `warn` means that a component has a problem.",
        schema: healthAnswerSchema,
      },
      {
        status: 503,
        when: "Messages are not accepted.",
        schema: healthAnswerSchema,
        headers: { "Retry-After": "Seconds to wait before the next request." },
      },
    ],
    example: { answer: { ok: true, status: "pass", version: "0.1.0", time: "2027-01-04T09:30:00.000Z" } },
  },
  getOpenApi: {
    ...route("GET /openapi.json", null, "Get the OpenAPI description"),
    description: "OpenAPI 3.1, generated from the schemas that validate requests.",
    isPublic: true,
    requestHeaders: noneMatch,
    answers: [
      {
        status: 200,
        when: "The OpenAPI document.",
        schema: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
        headers: { ETag: "Changes with the document." },
      },
      unchangedAnswer,
    ],
  },
  getDocs: {
    ...route("GET /docs", null, "Get the API reference as a page"),
    description: "HTML with a curl example for each operation. Loads no external resources and runs no scripts.",
    isPublic: true,
    requestHeaders: noneMatch,
    answers: [
      {
        status: 200,
        when: "The page.",
        schema: null,
        mediaType: "text/html",
        headers: { ETag: "Changes with the page." },
      },
      unchangedAnswer,
    ],
  },
} as const satisfies Record<string, Endpoint>;
