const EVERYWHERE = ["0.0.0.0", "::"];

/**
 * Returns the URL at which this machine reaches a server that is bound to a host and a port. IPv6 addresses are
 * enclosed in brackets (RFC 3986).
 */
export function localUrl(boundHost: string, port: number): string {
  const host = EVERYWHERE.includes(boundHost) ? "127.0.0.1" : boundHost;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
