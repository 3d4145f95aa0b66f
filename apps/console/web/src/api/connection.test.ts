import { expect, test } from "@jest/globals";
import { readAll, readError } from "./connection.ts";

test("a problem has its code, its text and every invalid field", () => {
  const body = {
    code: "invalid_request",
    detail: "Mend it.",
    errors: [{ pointer: "/name", code: "x", detail: "is empty" }, 7],
  };
  const error = readError(400, JSON.stringify(body), new Headers({ "retry-after": "3", "x-request-id": "r1" }));
  expect(error).toMatchObject({
    code: "invalid_request",
    detail: "Mend it.",
    status: 400,
    retryAfterSeconds: 3,
    requestId: "r1",
    errors: [{ pointer: "/name", code: "x", detail: "is empty" }],
  });
});

test("a proxy's page, or an empty body, is an unexpected answer with its status", () => {
  expect(readError(502, "<html>", new Headers())).toMatchObject({ code: "unexpected_answer", status: 502 });
  expect(readError(500, "", new Headers())).toMatchObject({ code: "unexpected_answer", status: 500 });
});

test("choices, such as the agents of a filter, include all pages of a list", async () => {
  const pages: Record<string, { items: number[]; nextCursor: string | null }> = {
    first: { items: [1, 2], nextCursor: "second" },
    second: { items: [3], nextCursor: null },
  };
  const read = ({ cursor = "first" }: { cursor?: string }) =>
    Promise.resolve(pages[cursor] ?? { items: [], nextCursor: null });
  expect(await readAll(read)).toEqual([1, 2, 3]);
});
