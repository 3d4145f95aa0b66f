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

const UNTRUSTED = "its certificate is not trusted: set NODE_EXTRA_CA_CERTS to the CA certificate file";

/** Certificate error codes of Node.js and OpenSSL, with explanations for administrators. */
const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  CERT_HAS_EXPIRED: "its certificate has expired: renew it, or correct this machine's clock",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: correct this machine's clock",
  CERT_REVOKED: "its certificate has been revoked: install a new one",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "its certificate is for a different host name: connect with the name in the certificate",
  EPROTO: "it does not use TLS on this port: correct the port, or connect without TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not use TLS on this port: correct the port, or connect without TLS",
};

/** Message of pg, which has no code, for a server without TLS. */
const WITHOUT_TLS = /server does not support SSL/i;

/**
 * Returns why a TLS connection to a server ("it") failed, or null for other errors. Retrying does not fix these errors.
 */
export function explainCertificateError(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (WITHOUT_TLS.test(error.message))
    return "it does not support TLS: enable TLS on the server, or remove sslmode from the URL";
  const code: unknown = "code" in error ? error.code : undefined;
  return typeof code === "string" ? (CERTIFICATE_ERRORS[code] ?? null) : null;
}
