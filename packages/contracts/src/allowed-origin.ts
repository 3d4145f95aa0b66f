import { parseUrl } from "./url.ts";

const WILDCARD = /^(https?):\/\/\*\.(.+)$/;

function fits(origin: URL, allowed: string): boolean {
  const [, scheme, domain] = WILDCARD.exec(allowed) ?? [];
  if (domain === undefined) return origin.origin === allowed;
  return origin.protocol === `${scheme}:` && origin.host.endsWith(`.${domain}`);
}

/**
 * Whether a page of this origin may use the widget: any where the list is empty, else one of the list, in which
 * `https://*.example.com` stands for each name below example.com. What has no `Origin` is no call of a page of another
 * site, since browsers send it with those; a page without an origin (`null`) is on no list.
 */
export function isOriginAllowed(origin: string | undefined, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0 || origin === undefined) return true;
  const url = parseUrl(origin);
  // Anything but a bare origin is not what a browser writes.
  if (url === null || url.origin !== origin.toLowerCase()) return false;
  return allowedOrigins.some((allowed) => fits(url, allowed));
}
