import { expect, test } from "@jest/globals";
import de from "../i18n/de.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import { describeServerError, findFailing } from "./models.ts";

const { t } = createTexts("de", de.pages);
const describe = (detail: string) => describeServerError({ provider: "openai", detail }, t);

test("the reason for missing models of a server is shown in the console's language, with the name of the server once", () => {
  expect(describe("openai rejected the API key. Check SVC_LLM_API_KEY.")).toBe(
    "lehnt den API-Schlüssel ab. Prüfen Sie SVC_LLM_API_KEY.",
  );
  expect(describe("openai is unreachable (ECONNREFUSED). Check SVC_LLM_BASE_URL.")).toBe(
    "ist nicht erreichbar (ECONNREFUSED). Prüfen Sie SVC_LLM_BASE_URL.",
  );
  expect(describe("openai returned status 500. Check SVC_LLM_BASE_URL.")).toBe(
    "antwortet mit HTTP 500. Prüfen Sie SVC_LLM_BASE_URL.",
  );
  expect(describe("openai is new here.")).toBe("is new here.");
});

test("models are failing if many of their calls of the last hour failed, or of the last day without calls since", () => {
  const of = (model: string, calls: number, errors: number) => {
    return { model, calls, faults: errors, inputTokens: 0, outputTokens: 0, costUsd: null };
  };
  const day = [of("openai:a", 65, 65), of("openai:b", 65, 65), of("openai:c", 20, 2), of("openai:d", 0, 1)];
  expect(findFailing([of("openai:b", 4, 0)], day)).toEqual([
    { model: "openai:a", calls: 65, errors: 65, period: "day" },
    { model: "openai:d", calls: 1, errors: 1, period: "day" },
  ]);
  expect(findFailing([of("openai:a", 5, 1)], [of("openai:a", 65, 6)])).toMatchObject([{ period: "hour", calls: 5 }]);
});
