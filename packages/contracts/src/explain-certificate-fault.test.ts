import { describe, expect, test } from "@jest/globals";
import { explainCertificateFault } from "./explain-certificate-fault.ts";

const faultWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("a fault of a certificate is told in words", () => {
  test.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["CERT_HAS_EXPIRED", /expired/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /different host name/],
  ])("%s", (code, words) => {
    expect(explainCertificateFault(faultWith(code))).toMatch(words);
  });

  test("also where PostgreSQL has no TLS at all", () => {
    expect(explainCertificateFault(new Error("The server does not support SSL connections"))).toMatch(
      /does not support TLS/,
    );
  });

  test("and other faults are none", () => {
    expect(explainCertificateFault(faultWith("ECONNREFUSED"))).toBeNull();
    expect(explainCertificateFault("text")).toBeNull();
  });
});
