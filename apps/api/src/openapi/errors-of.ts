import { ERRORS } from "@svc/contracts";
import type { Endpoint, ErrorCode } from "@svc/contracts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** Every error that an endpoint can answer: those that follow from what it takes, and those that it names. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { isPublic = false, scope, path, query, params, requestHeaders, body, ifMatch, errors = [] } = endpoint;
  const hasIds = path.includes("{");
  const readsRequest = [query, params, requestHeaders, body, ifMatch].some((part) => part !== undefined);
  const found: [isPossible: boolean, codes: ErrorCode[]][] = [
    [true, ["internal"]],
    [!isPublic, ["missing_key", "invalid_key", "ambiguous_credentials", "project_mismatch", "rate_limited"]],
    // An administrator can name a project that does not exist.
    [!isPublic || hasIds, ["not_found", "unavailable"]],
    [scope !== null, ["insufficient_scope"]],
    [!isPublic && (hasIds || readsRequest), ["invalid_request"]],
    [body !== undefined, ["invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type"]],
    [ifMatch !== undefined, ["version_conflict"]],
    // What takes nothing that could be wrong can still be called by another method.
    [isPublic && !hasIds, ["method_not_allowed"]],
    [true, [...errors]],
  ];
  const possible = new Set(found.flatMap(([isPossible, codes]) => (isPossible ? codes : [])));
  // In the order of the catalogue.
  return CODES.filter((code) => possible.has(code));
}
