/**
 * Returns the parsed URL, relative to a base if there is one, or null if the text is not a URL. Use it instead of
 * `URL.canParse`, which on Node 20 and 22, after some thousand calls, rejects valid URLs with letters such as "ü" in
 * their host (its fast path reads their bytes as UTF-8).
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const EVERYWHERE = ["0.0.0.0", "::"];

/**
 * Returns the URL at which this machine reaches a server that is bound to a host and a port. IPv6 addresses are
 * enclosed in brackets (RFC 3986).
 */
export function localUrl(boundHost: string, port: number): string {
  const host = EVERYWHERE.includes(boundHost) ? "127.0.0.1" : boundHost;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

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
