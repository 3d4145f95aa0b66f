const EVERYWHERE = ["0.0.0.0", "::"];

/** Where this machine reaches what is bound to a host and a port. An IPv6 address stands in brackets (RFC 3986). */
export function localUrl(boundHost: string, port: number): string {
  const host = EVERYWHERE.includes(boundHost) ? "127.0.0.1" : boundHost;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
