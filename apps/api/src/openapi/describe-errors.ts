import { ERRORS } from "@svc/contracts";
import type { Endpoint, ErrorCode, Problem } from "@svc/contracts";
import { headerRefs } from "./openapi-document.ts";
import type { HeaderName, ExampleValue, MediaType, ResponseObject } from "./openapi-document.ts";

const ALL_CODES = Object.keys(ERRORS) as ErrorCode[];
const HEADERS_OF_ALL: HeaderName[] = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

/** Additional headers of errors. */
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
  busy: ["Retry-After"],
  unavailable: ["Retry-After"],
};

const PROBLEMS = [{ pointer: "/text", code: "too_short", detail: "must not be empty or only whitespace" }];

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
    ...(code === "invalid_request" ? { errors: PROBLEMS } : {}),
  };
}

/** Returns one example of each error, by its code. */
export function describeProblems(): Record<string, ExampleValue> {
  return Object.fromEntries(ALL_CODES.map((code) => [code, { summary: ERRORS[code].title, value: exampleOf(code) }]));
}

/** Returns the name of the response with one of these errors: `MissingKeyOrInvalidKey`. */
export function nameOfErrors(codes: readonly ErrorCode[]): string {
  const words = codes.map((code) => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()));
  return words.join("Or");
}

/** Returns what each of these errors means and how to fix the request. */
export const explainErrors = (codes: readonly ErrorCode[]) =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].when} ${ERRORS[code].fix}`).join("\n\n");

/** Returns the content of a response with one of these errors. */
export function problemContent(codes: readonly ErrorCode[]): Record<string, MediaType> {
  return {
    "application/problem+json": {
      schema: { $ref: "#/components/schemas/Problem" },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  };
}

/** Returns the response with one of these errors, which have the same status. */
export function describeErrors(codes: readonly ErrorCode[]): ResponseObject {
  const headers = new Set<HeaderName>([...HEADERS_OF_ALL, ...codes.flatMap((code) => HEADERS_OF[code] ?? [])]);
  return { description: explainErrors(codes), headers: headerRefs([...headers]), content: problemContent(codes) };
}

/** Returns every error that an endpoint can return: those that follow from its parts, and those that it names. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { isPublic = false, scope, path, query, params, requestHeaders, body, ifMatch, errors = [] } = endpoint;
  const hasIds = path.includes("{");
  const readsRequest = [query, params, requestHeaders, body, ifMatch].some((part) => part !== undefined);
  const found: [isPossible: boolean, codes: ErrorCode[]][] = [
    [true, ["internal"]],
    [!isPublic, ["missing_key", "invalid_key", "ambiguous_credentials", "project_mismatch", "rate_limited"]],
    // An administrator can name an unknown project.
    [!isPublic || hasIds, ["not_found", "busy", "unavailable"]],
    [scope !== null, ["insufficient_scope"]],
    [!isPublic && (hasIds || readsRequest), ["invalid_request"]],
    [body !== undefined, ["invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type"]],
    [ifMatch !== undefined, ["version_conflict"]],
    // An endpoint without input can still be called with another method.
    [isPublic && !hasIds, ["method_not_allowed"]],
    [true, [...errors]],
  ];
  const possible = new Set(found.flatMap(([isPossible, codes]) => (isPossible ? codes : [])));
  // In the order of the catalogue.
  return ALL_CODES.filter((code) => possible.has(code));
}
