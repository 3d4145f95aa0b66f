import { expect, test } from "@jest/globals";
import { eventIdsOf } from "./hook-intake.ts";

const content = Buffer.from('{"a":1}');

test("Standard Webhooks: the signed webhook-id is the event id unless the mapping names another", () => {
  const hook = { auth: { type: "standard-webhooks" } } as const;
  const body = { headers: { "webhook-id": "msg_1" }, content };
  expect(eventIdsOf(hook, body, null)).toEqual(["msg_1"]);
  expect(eventIdsOf(hook, body, "mapped")).toEqual(["mapped"]);
  const long = eventIdsOf(hook, { ...body, headers: { "webhook-id": "x".repeat(1_000) } }, null);
  expect(long).toEqual([expect.stringMatching(/^webhook-id [0-9a-f]{64}$/)]);
});

test("GitHub: the signed body is an id too, since the id of the delivery is not signed", () => {
  const hook = { auth: { type: "github" } } as const;
  const [first, again] = ["id-1", "id-2"].map((id) => eventIdsOf(hook, { headers: {}, content }, id));
  expect(first).toEqual([expect.stringMatching(/^body [0-9a-f]{64}$/), "id-1"]);
  expect(again?.[0]).toBe(first?.[0]);
  expect(eventIdsOf(hook, { headers: {}, content: Buffer.from("{}") }, "id-1")[0]).not.toBe(first?.[0]);
});

test("other schemes: what the mapping names, or nothing", () => {
  const hook = { auth: { type: "shopify" } } as const;
  expect(eventIdsOf(hook, { headers: { "webhook-id": "a" }, content }, null)).toEqual([]);
  expect(eventIdsOf(hook, { headers: {}, content }, "b")).toEqual(["b"]);
});
