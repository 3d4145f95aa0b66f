import { expect, test } from "@jest/globals";
import { ENDPOINTS } from "@svc/contracts";
import { findRoute } from "./find-route.ts";

const SECRET = `svc_${"s".repeat(38)}`;

test.each(Object.entries(ENDPOINTS))(
  "%s is found by its path, whatever the caller has put there",
  (_name, { path }) => {
    expect(findRoute(path.replaceAll(/\{\w+\}/g, SECRET))).toBe(path);
    expect(findRoute(`${path.replaceAll(/\{\w+\}/g, "%2F%00..")}/`)).toBe(path);
  },
);

test.each([
  ["/api/v1/admin/audit/verify", "/api/v1/admin/audit/verify"],
  ["/api/v1/admin/agents//execute", null],
  [`/api/v1/${SECRET}`, null],
  [`/${SECRET}`, null],
  ["/api/v1/admin/Agents", null],
  ["/api/v1/admin/agents/{id}/other", null],
  ["/", null],
  ["", null],
  ["/".repeat(5_000), null],
])("%s is the route %s", (path, route) => {
  expect(findRoute(path)).toBe(route);
});
