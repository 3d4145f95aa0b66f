import { createConfig, lintFromString } from "@redocly/openapi-core";

/** What Redocly's linter finds in an OpenAPI document by its strictest set of recommended rules. */
export async function lintOpenapi(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`);
}
