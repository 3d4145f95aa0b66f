import { parseUrl } from "./url.ts";

const WILDCARD = /^(https?):\/\/\*\.(.+)$/;

function fits(origin: URL, allowed: string): boolean {
  const [, scheme, domain] = WILDCARD.exec(allowed) ?? [];
  if (domain === undefined) return origin.origin === allowed;
  return origin.protocol === `${scheme}:` && origin.host.endsWith(`.${domain}`);
}

/**
 * Returns whether a page of this origin may use the widget: any page if the list is empty, otherwise one with an origin
 * in the list, in which `https://*.example.com` matches every subdomain of example.com. A request without `Origin` is
 * allowed, because browsers send the header for pages of other sites; an opaque origin (`null`) matches no list.
 */
export function isOriginAllowed(origin: string | undefined, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0 || origin === undefined) return true;
  const url = parseUrl(origin);
  // Browsers send only bare origins.
  if (url === null || url.origin !== origin.toLowerCase()) return false;
  return allowedOrigins.some((allowed) => fits(url, allowed));
}
