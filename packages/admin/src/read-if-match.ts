import { ServiceError } from "@svc/contracts";
import type { ExpectedVersions } from "@svc/operations";
import type { Request } from "express";

const TAGS = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/;

/**
 * The versions that `If-Match` names (RFC 9110, section 13.1.1): null without the header and for `*`. A tag that is
 * weak, or that no version of ours has, matches nothing. Throws invalid_request for what is no list of tags.
 */
export function readIfMatch(request: Request): ExpectedVersions {
  const text = request.headers["if-match"];
  if (text === undefined || text.trim() === "*") return null;
  if (!TAGS.test(text)) {
    throw new ServiceError(
      "invalid_request",
      'If-Match must be an ETag exactly as it was returned, including the quotes, such as "3".',
    );
  }
  const strong = [...text.matchAll(/(W\/)?"([^"]*)"/g)].filter(([, weak]) => weak === undefined);
  return strong.flatMap(([, , tag = ""]) => (/^\d{1,9}$/.test(tag) ? [Number(tag)] : []));
}
