import { expect, test } from "@jest/globals";
import { findUnboundIdentifiers, withoutBound } from "./bound-arguments.ts";

const ORDER = {
  type: "object",
  properties: { orderId: { type: "string" }, customer_email: { type: "string" }, language: { type: "string" } },
  required: ["orderId", "language"],
};

test("a model sees no bound argument", () => {
  expect(withoutBound(ORDER, { orderId: "customer.userId" })).toEqual({
    type: "object",
    properties: { customer_email: { type: "string" }, language: { type: "string" } },
    required: ["language"],
  });
});

test("an argument that identifies something, or stands in the path, is an identifier until it is bound", () => {
  expect(findUnboundIdentifiers(ORDER, {})).toEqual(["orderId", "customer_email"]);
  expect(findUnboundIdentifiers(ORDER, { orderId: "customer.userId", customer_email: "customer.email" })).toEqual([]);
  expect(findUnboundIdentifiers(ORDER, {}, ["language"])).toEqual(["orderId", "customer_email", "language"]);
  expect(findUnboundIdentifiers({ type: "object", properties: { query: {}, page: {}, video: {} } }, {})).toEqual([]);
});
