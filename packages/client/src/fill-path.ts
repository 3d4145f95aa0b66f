import { ServiceError } from "./service-error.ts";

/**
 * Path for sending messages, and prefix of the path for collecting the replies of a chat (service document, sections
 * 4.2 and 4.3).
 */
export const MESSAGES_PATH = "/api/v1/messages";

function encoded(name: string, value: string | undefined): string {
  // URLs drop these segments, which would call another endpoint.
  const isUsable = value !== undefined && value !== "" && value !== "." && value !== "..";
  try {
    if (isUsable) return encodeURIComponent(value);
  } catch {
    // A lone surrogate, which a URL cannot contain.
  }
  throw new ServiceError("invalid_options", `The path parameter ${name} is missing or not valid.`);
}

/** Returns a path with its `{names}` replaced, percent-encoded. Throws ServiceError `invalid_options`. */
export function fillPath(template: string, params: Readonly<Record<string, string | undefined>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(name, params[name]));
}
