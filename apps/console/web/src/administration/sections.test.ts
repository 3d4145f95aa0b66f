import { expect, test } from "@jest/globals";
import type { RequiredScope } from "@svc/contracts";
import { PAGES } from "../app/pages.ts";
import { firstSection } from "./sections.ts";

const only =
  (...scopes: RequiredScope[]) =>
  (scope: RequiredScope) =>
    scopes.includes(scope);

test("the administration opens with a section that the role allows, and is hidden if there is none", () => {
  const isShown = (mayDo: (scope: RequiredScope) => boolean) =>
    PAGES.filter(({ scopes }) => scopes.some(mayDo)).some(({ id }) => id === "administration");
  expect(firstSection(() => true)).toBe("keys");
  expect(firstSection(only("tickets:read"))).toBe("tags");
  expect(firstSection(only("webhooks:read"))).toBe("webhooks");
  expect(isShown(only("tickets:read"))).toBe(true);
  expect(isShown(only("kb:read"))).toBe(false);
});
