import { describe, expect, test } from "@jest/globals";
import { explainCertificateError } from "./explain-certificate-error.ts";

const errorWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("an error of a certificate is explained in words", () => {
  test.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["CERT_HAS_EXPIRED", /expired/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /different host name/],
  ])("%s", (code, words) => {
    expect(explainCertificateError(errorWith(code))).toMatch(words);
  });

  test("also where PostgreSQL has no TLS at all", () => {
    expect(explainCertificateError(new Error("The server does not support SSL connections"))).toMatch(
      /does not support TLS/,
    );
  });

  test("but no other error is", () => {
    expect(explainCertificateError(errorWith("ECONNREFUSED"))).toBeNull();
    expect(explainCertificateError("text")).toBeNull();
  });
});
