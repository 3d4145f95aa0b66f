import { describe, expect, test } from "@jest/globals";
import { ERRORS, ServiceError } from "./errors.ts";
import type { ErrorCode } from "./errors.ts";

/** The statuses that the public contract fixes, and that of internal errors. */
const STATUSES: Record<ErrorCode, number> = {
  missing_key: 401,
  invalid_key: 401,
  invalid_signature: 401,
  ambiguous_credentials: 400,
  insufficient_scope: 403,
  project_mismatch: 403,
  invalid_json: 400,
  invalid_request: 400,
  origin_not_allowed: 403,
  not_signed_in: 401,
  sign_in_failed: 401,
  csrf_refused: 403,
  invalid_identity: 403,
  not_found: 404,
  method_not_allowed: 405,
  unsupported_media_type: 415,
  payload_too_large: 413,
  idempotency_mismatch: 422,
  idempotency_in_progress: 409,
  storage_full: 507,
  too_many_files: 409,
  version_conflict: 412,
  rate_limited: 429,
  quota_exceeded: 429,
  storage_quota_exceeded: 413,
  channel_disabled: 503,
  pull_cancelled: 409,
  pull_failed: 424,
  disk_full: 507,
  unavailable: 503,
  busy: 503,
  internal: 500,
};

describe("the list of errors", () => {
  const entries = Object.entries(ERRORS);

  test("has the statuses of the contract", () => {
    expect(Object.fromEntries(entries.map(([code, { status }]) => [code, status]))).toEqual(STATUSES);
  });

  test("has codes that differ in more than case, and a different title for each", () => {
    expect(entries.map(([code]) => code).filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code))).toEqual([]);
    expect(new Set(entries.map(([, { title }]) => title)).size).toBe(entries.length);
  });

  test("describes in sentences when each error happens and what to do", () => {
    const sentences = entries.flatMap(([, { when, fix }]) => [when, fix]);
    expect(sentences.filter((sentence) => !/^[A-Z`].+\.$/.test(sentence))).toEqual([]);
  });
});

describe("an error for a caller", () => {
  test("carries code, text, errors, headers and cause", () => {
    const cause = new Error("inner");
    const errors = [{ pointer: "/text", code: "too_long", detail: "must have at most 50000 characters" }];
    const error = new ServiceError("invalid_request", "Fix it.", { errors, headers: { Allow: "GET" }, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "ServiceError",
      code: "invalid_request",
      message: "Fix it.",
      errors,
      headers: { Allow: "GET" },
      cause,
    });
  });

  test("has neither errors nor headers unless they are given", () => {
    expect(new ServiceError("not_found", "Nothing here.")).toMatchObject({ errors: undefined, headers: {} });
  });
});
