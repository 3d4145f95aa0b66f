import { expect, test } from "@jest/globals";
import { checkModels } from "./get-health.ts";

const modelsThat = (...errors: (string | null)[]) => ({
  health: () => errors.map((error, index) => ({ name: `provider-${index}`, fault: error })),
});

test("has no models if none is configured", () => {
  expect(checkModels(null)).toEqual({});
});

test("passes while no provider is paused", () => {
  expect(checkModels(modelsThat(null, null))).toMatchObject({ models: { status: "pass" } });
});

test("warns about a paused provider, with the reason, and never fails: agents still answer", () => {
  expect(checkModels(modelsThat(null, "the provider is unreachable"))).toEqual({
    models: { status: "warn", detail: expect.stringContaining("provider-1: the provider is unreachable") },
  });
});
