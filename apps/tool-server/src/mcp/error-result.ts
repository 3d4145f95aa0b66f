import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ServiceError } from "@svc/contracts";

/** Where a failed result tells programs the code of the catalogue and every fault. */
export const ERROR_META_KEY = "svc/error";

/**
 * A failure as the result of a tool, so that a model reads it and mends its call: the code of the catalogue, what to do,
 * and each fault of the arguments with its JSON Pointer. For programs the same stands in `_meta`: structured content has
 * to fit the tool's output schema, which a failure does not.
 */
export function errorResult({ code, message, errors }: ServiceError): CallToolResult {
  const faults = (errors ?? []).map(
    ({ pointer, detail }) => `- ${pointer === "" ? "the arguments" : pointer}: ${detail}`,
  );
  return {
    content: [{ type: "text", text: [`${code}: ${message}`, ...faults].join("\n") }],
    isError: true,
    _meta: { [ERROR_META_KEY]: { code, detail: message, ...(errors === undefined ? {} : { errors }) } },
  };
}
