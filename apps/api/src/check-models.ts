import type { Resources } from "@svc/runtime";
import type { Check } from "./get-health.ts";

/** What health asks the models of a process. */
type AskedModels = Pick<NonNullable<Resources["models"]>, "health">;

/**
 * How the providers of language models are doing, as the last calls of this process went: nothing is asked for a look at
 * its health. Nothing where none is configured; never worse than `warn`, since agents answer without a model, too.
 */
export function checkModels(models: AskedModels | null): { models?: Check } {
  if (models === null) return {};
  const resting = models.health().flatMap(({ name, fault }) => (fault === null ? [] : [`${name}: ${fault}`]));
  return {
    models:
      resting.length === 0
        ? { status: "pass", detail: "language models respond, or have not been used yet" }
        : { status: "warn", detail: `agents quote documents instead of using a language model; ${resting.join("; ")}` },
  };
}
