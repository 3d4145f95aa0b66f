import { expect, test } from "@jest/globals";
import { ENDPOINTS } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";
import { z } from "zod";
import { errorsOf } from "./describe-errors.ts";

const PLAIN: Endpoint = { method: "GET", path: "/api/v1/things", tag: "", summary: "", scope: "kb:read", answers: [] };
const ofKeys = ["ambiguous_credentials", "invalid_key", "missing_key", "project_mismatch", "rate_limited"];
const ofAll = [...ofKeys, "insufficient_scope", "internal", "not_found", "busy", "unavailable"];
const ofBodies = ["invalid_json", "invalid_request", "payload_too_large", "unsupported_media_type"];

test.each<[string, Partial<Endpoint>, string[]]>([
  ["needs a key with a scope", {}, ofAll],
  ["needs a key, whatever its scopes", { scope: null }, ofAll.filter((code) => code !== "insufficient_scope")],
  ["names an object", { path: "/api/v1/things/{id}" }, [...ofAll, "invalid_request"]],
  ["takes a query", { query: z.object({}) }, [...ofAll, "invalid_request"]],
  ["takes a body", { body: { schema: z.object({}) } }, [...ofAll, ...ofBodies]],
  ["changes a version", { ifMatch: true }, [...ofAll, "invalid_request", "version_conflict"]],
  ["says of another one", { errors: ["channel_disabled"] }, [...ofAll, "channel_disabled"]],
  ["needs no key", { scope: null, isPublic: true }, ["internal", "method_not_allowed"]],
  [
    "needs no key and names an object",
    { scope: null, isPublic: true, path: "/api/v1/things/{id}" },
    ["internal", "not_found", "busy", "unavailable"],
  ],
])("an endpoint that %s can answer these errors", (_title, fields, codes) => {
  expect(new Set(errorsOf({ ...PLAIN, ...fields }))).toEqual(new Set(codes));
});

test("lists each error once, in the order of the catalog", () => {
  for (const endpoint of Object.values(ENDPOINTS)) {
    const codes = errorsOf(endpoint);
    expect(new Set(codes).size).toBe(codes.length);
  }
});
