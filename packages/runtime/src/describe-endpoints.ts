import { ENDPOINTS } from "@svc/contracts";
import type { Endpoint } from "@svc/contracts";

/** A text that must not end a cell of a table. */
const cell = (text: string) => text.replaceAll("|", "\\|");

const rowOf = ({ method, path, scope, alsoScope, summary, ifMatch }: Endpoint) => {
  const scopes = [scope, alsoScope].filter((one) => one != null).map((one) => `\`${one}\``);
  const version = ifMatch === "required" ? "required" : ifMatch === true ? "yes" : "";
  return `| \`${method} ${path}\` | ${scopes.join(" and ")} | ${cell(summary)} | ${version} |`;
};

/** docs/endpoints.md, made from the records that routes are made from. */
export function describeEndpoints(): string {
  const byTag = new Map<string, Endpoint[]>();
  for (const endpoint of Object.values<Endpoint>(ENDPOINTS)) {
    byTag.set(endpoint.tag, [...(byTag.get(endpoint.tag) ?? []), endpoint]);
  }
  const chapters = [...byTag].map(
    ([tag, endpoints]) => `## ${tag}

| Endpoint | Scope | What it does | If-Match |
|---|---|---|---|
${endpoints.map(rowOf).join("\n")}
`,
  );
  return `# Endpoints

Every endpoint of the HTTP API. A running product shows fields, limits, examples and errors of each at \`/api/v1/docs\`,
and describes itself as OpenAPI 3.1 at \`/api/v1/openapi.json\`. A key needs the scope; one with \`admin:*\` may call all
of them. Where \`If-Match\` is understood, send the \`ETag\` of what you have read: somebody else's change in between is
then answered with 412 and not overwritten.

${chapters.join("\n")}
This page is made by \`npm run docs\`; a test compares it with the code.
`;
}
