import { expect, test } from "@jest/globals";
import { readFault } from "./connection.ts";

test("a problem tells its code, its text and every field that is at fault", () => {
  const body = {
    code: "invalid_request",
    detail: "Mend it.",
    errors: [{ pointer: "/name", code: "x", detail: "is empty" }, 7],
  };
  const fault = readFault(400, JSON.stringify(body), new Headers({ "retry-after": "3", "x-request-id": "r1" }));
  expect(fault).toMatchObject({
    code: "invalid_request",
    detail: "Mend it.",
    status: 400,
    retryAfterSeconds: 3,
    requestId: "r1",
    errors: [{ pointer: "/name", code: "x", detail: "is empty" }],
  });
});

test("a proxy's page, or nothing, is an unexpected answer with its status", () => {
  expect(readFault(502, "<html>", new Headers())).toMatchObject({ code: "unexpected_answer", status: 502 });
  expect(readFault(500, "", new Headers())).toMatchObject({ code: "unexpected_answer", status: 500 });
});
