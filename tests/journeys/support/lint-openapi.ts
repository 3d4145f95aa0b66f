import { createConfig, lintFromString } from "@redocly/openapi-core";

/** Returns the findings of Redocly's linter in an OpenAPI document with its strictest recommended rules. */
export async function lintOpenapi(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`);
}
