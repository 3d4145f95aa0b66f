import { expect } from "@jest/globals";
import { ERRORS } from "@svc/contracts";
import type { ErrorCode } from "@svc/contracts";
import type { ApiAnswer } from "./api-answer.ts";

/** What no answer may show: stack frames, files, classes of errors, SQL. */
const INTERNALS = /\bat \S+ \(|\.[jt]s:\d+|node_modules|[A-Z][a-z]+Error\b|\bSELECT\b|\bINSERT\b|postgres/i;

/**
 * Checks that an answer is the problem with this code in the shape that all errors have: media type, title and status
 * of the catalogue, the request id of the header, a text that says what is wrong, nothing internal. With `pointers`,
 * its `errors` are about exactly these places.
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
  // One field may have several faults.
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
