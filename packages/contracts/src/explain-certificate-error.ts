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
