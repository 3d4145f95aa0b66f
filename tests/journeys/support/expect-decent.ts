import { expect } from "@jest/globals";
import type { ApiAnswer } from "./api-answer.ts";

/** Frames of a stack, files of ours, pages for browsers: what no caller is ever shown. */
const INDECENT = /\bat \S+ \(|\.[jt]s:\d+|node_modules|<!doctype|<html|<pre>/i;

/**
 * Checks what every answer has in common, whatever was sent: no fault of the service, an `X-Request-Id`, a body that is
 * the JSON (or problem+json, exactly for errors) that it says it is, nothing of the inside.
 */
export function expectDecent(answer: ApiAnswer): void {
  const isError = answer.status >= 400;
  expect(answer.status).toBeLessThan(500);
  // What is no error may show what the caller sent, as data.
  if (isError) expect(answer.text).not.toMatch(INDECENT);
  expect(answer.headers.get("x-request-id")).toMatch(/^[\w.:-]{1,128}$/);
  expect(answer.headers.get("content-type")).toMatch(isError ? /^application\/problem\+json/ : /^application\/json/);
  expect(JSON.parse(answer.text)).toMatchObject({ ok: !isError });
}
