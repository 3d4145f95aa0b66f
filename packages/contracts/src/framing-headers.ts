/**
 * Headers by which a request is framed or routed (RFC 9110, RFC 9112), in lower case: whoever sends it sets them itself,
 * and nobody for whom it is sent.
 */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "upgrade",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
]);
