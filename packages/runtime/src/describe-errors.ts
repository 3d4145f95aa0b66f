import { ERRORS } from "@svc/contracts";

/** docs/errors.md, made from the catalogue that every surface answers from. */
export function describeErrors(): string {
  const byStatus = Object.entries(ERRORS).toSorted(([, a], [, b]) => a.status - b.status);
  const rows = byStatus.map(([code, entry]) => {
    const also = "also" in entry ? entry.also : "";
    return `| ${entry.status} | \`${code}\` | ${entry.when} | ${entry.mend} | ${also} |`;
  });
  return `# Errors

Every error of every HTTP surface is \`application/problem+json\` (RFC 9457). Program against \`code\`, which never
changes; \`detail\` tells a person how to mend the call; \`errors\` is there for faults of validation only.

\`\`\`json
{
  "ok": false,
  "type": "urn:svc:error:invalid_request",
  "title": "Invalid request",
  "status": 400,
  "code": "invalid_request",
  "detail": "The message is not valid: /text at least 1 character.",
  "instance": "/api/v1/messages",
  "requestId": "01a1fe7b-4312-7362-b590-0b7f11541fa3",
  "errors": [{ "pointer": "/text", "code": "too_small", "detail": "at least 1 character" }]
}
\`\`\`

| Status | Code | When | What to do | The answer also has |
|---|---|---|---|---|
${rows.join("\n")}

What never became a request (no valid HTTP, headers too large or too slow) is answered in the same shape with code
\`invalid_request\` and status 400, 408 or 431, and the connection is closed.

This page is made by \`npm run docs\`; a test compares it with the code.
`;
}
