import { ERRORS } from "@svc/contracts";
import type { ErrorCode, Problem } from "@svc/contracts";
import { headerRefs } from "./describe-headers.ts";
import type { HeaderName } from "./describe-headers.ts";
import type { ExampleValue, MediaType, ResponseObject } from "./openapi-document.ts";

const HEADERS_OF_ALL: HeaderName[] = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

/** What the answer with an error has besides. */
const HEADERS_OF: Partial<Record<ErrorCode, HeaderName[]>> = {
  missing_key: ["WWW-Authenticate"],
  invalid_key: ["WWW-Authenticate"],
  insufficient_scope: ["WWW-Authenticate"],
  invalid_signature: ["WWW-Authenticate"],
  method_not_allowed: ["Allow"],
  idempotency_in_progress: ["Retry-After"],
  version_conflict: ["ETag"],
  rate_limited: ["Retry-After"],
  channel_disabled: ["Retry-After"],
  unavailable: ["Retry-After"],
};

const FAULTS = [{ pointer: "/text", code: "too_short", detail: "must not be empty or only whitespace" }];

function exampleOf(code: ErrorCode): Problem {
  const { title, status, when } = ERRORS[code];
  return {
    ok: false,
    type: `urn:svc:error:${code}`,
    title,
    status,
    code,
    detail: when,
    instance: "/api/v1/messages",
    requestId: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
    ...(code === "invalid_request" ? { errors: FAULTS } : {}),
  };
}

/** One example of each error, by its code. */
export function describeProblems(): Record<string, ExampleValue> {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return Object.fromEntries(codes.map((code) => [code, { summary: ERRORS[code].title, value: exampleOf(code) }]));
}

/** The name of the answer with one of these errors: `MissingKeyOrInvalidKey`. */
export function nameOfErrors(codes: readonly ErrorCode[]): string {
  const words = codes.map((code) => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()));
  return words.join("Or");
}

/** What each of these errors means and what the caller does about it. */
export const wordsOfErrors = (codes: readonly ErrorCode[]) =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].when} ${ERRORS[code].fix}`).join("\n\n");

/** The body of an answer with one of these errors. */
export function problemContent(codes: readonly ErrorCode[]): Record<string, MediaType> {
  return {
    "application/problem+json": {
      schema: { $ref: "#/components/schemas/Problem" },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  };
}

/** The answer with one of these errors, which have one status. */
export function describeErrors(codes: readonly ErrorCode[]): ResponseObject {
  const headers = new Set<HeaderName>([...HEADERS_OF_ALL, ...codes.flatMap((code) => HEADERS_OF[code] ?? [])]);
  return { description: wordsOfErrors(codes), headers: headerRefs([...headers]), content: problemContent(codes) };
}
