import { expect } from "@jest/globals";
import { ERRORS } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import type { ApiAnswer } from "./api-answer.ts";

/** Internals that no response may contain: stack frames, files, error classes, SQL. */
const INTERNALS = /\bat \S+ \(|\.[jt]s:\d+|node_modules|[A-Z][a-z]+Error\b|\bSELECT\b|\bINSERT\b|postgres/i;

/**
 * Checks that a response is the problem with this code in the format of all errors: media type, title and status of the
 * catalogue, the request id of the header, a detail, no internals. With `pointers`, its `errors` must have exactly
 * these locations.
 */
export function expectProblem(answer: ApiAnswer, code: ErrorCode, pointers?: readonly string[]): void {
  const { status, title } = ERRORS[code];
  const { errors, ...problem } = answer.body;
  expect({ httpStatus: answer.status, ...problem }).toEqual({
    httpStatus: status,
    ok: false,
    type: `urn:svc:error:${code}`,
    title,
    status,
    code,
    detail: expect.stringMatching(/\S/),
    instance: expect.stringMatching(/^\//),
    requestId: answer.headers.get("x-request-id"),
  });
  expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(answer.headers.get("x-request-id")).toMatch(/\S/);
  expect(answer.text).not.toMatch(INTERNALS);
  if (pointers === undefined) return;
  // One field may have several errors.
  const positions = new Set(errors?.map(({ pointer }) => pointer));
  expect([...positions].sort()).toEqual([...pointers].sort());
  for (const error of errors ?? []) {
    expect(error).toEqual({
      pointer: expect.stringMatching(/^(\/|$)/),
      code: expect.stringMatching(/^[a-z_]+$/),
      detail: expect.stringMatching(/\S/),
    });
  }
}
