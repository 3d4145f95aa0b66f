import { createConfig, lintFromString } from "@redocly/openapi-core";

/** What the linter is not right about, each with the reason. */
const EXCEPTIONS: { rule: string; place: RegExp; reason: string }[] = [
  {
    rule: "operation-4xx-response",
    place: /^#\/paths\/~1api~1v1~1(?:health|openapi\.json|docs)\//,
    reason: "They take nothing that could be wrong, and no key.",
  },
  {
    rule: "no-unused-components",
    place: /^#\/components\/responses\/MethodNotAllowed/,
    reason: "No operation answers so: it is about the methods that there are not.",
  },
];

/** What Redocly's linter finds in an OpenAPI document by its strictest set of recommended rules, but for exceptions. */
export async function lintOpenapi(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, config });
  return problems.flatMap(({ ruleId, message, location }) => {
    const place = location[0]?.pointer ?? "";
    const isExcepted = EXCEPTIONS.some((exception) => exception.rule === ruleId && exception.place.test(place));
    return isExcepted ? [] : [`${ruleId}: ${message} (${place})`];
  });
}
