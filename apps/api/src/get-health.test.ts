import { expect, test } from "@jest/globals";
import { checkModels } from "./get-health.ts";

const modelsThat = (...errors: (string | null)[]) => ({
  health: () => errors.map((error, index) => ({ name: `provider-${index}`, fault: error })),
});

test("says nothing of models where none is configured", () => {
  expect(checkModels(null)).toEqual({});
});

test("passes while every provider is asked", () => {
  expect(checkModels(modelsThat(null, null))).toMatchObject({ models: { status: "pass" } });
});

test("warns of a provider that is left alone, with the reason, and never fails: agents answer all the same", () => {
  expect(checkModels(modelsThat(null, "the provider is unreachable"))).toEqual({
    models: { status: "warn", detail: expect.stringContaining("provider-1: the provider is unreachable") },
  });
});
