import { expect } from "@jest/globals";
import type { ApiAnswer } from "./api-answer.ts";

/** Stack frames, file names of the service, and pages for browsers, which callers must never see. */
const INDECENT = /\bat \S+ \(|\.[jt]s:\d+|node_modules|<!doctype|<html|<pre>/i;

/**
 * Checks what all responses have in common, whatever was sent: no error of the service, an `X-Request-Id`, a body that
 * matches its media type (problem+json exactly for errors), no internals.
 */
export function expectDecent(answer: ApiAnswer): void {
  const isError = answer.status >= 400;
  expect(answer.status).toBeLessThan(500);
  // A success may contain what the caller sent, as data.
  if (isError) expect(answer.text).not.toMatch(INDECENT);
  expect(answer.headers.get("x-request-id")).toMatch(/^[\w.:-]{1,128}$/);
  expect(answer.headers.get("content-type")).toMatch(isError ? /^application\/problem\+json/ : /^application\/json/);
  expect(JSON.parse(answer.text)).toMatchObject({ ok: !isError });
}
