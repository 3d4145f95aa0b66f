import { expect, test } from "@jest/globals";
import de from "../i18n/de.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import { describeServerError } from "./models.ts";

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
