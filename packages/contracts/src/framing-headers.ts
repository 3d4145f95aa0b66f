/**
 * Headers that frame or route a request (RFC 9110, RFC 9112), in lowercase. The HTTP client sets them; callers must not
 * override them.
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
