import { describe, expect, test } from "@jest/globals";
import { explainCertificateFault } from "./explain-certificate-fault.ts";

const faultWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("explains a certificate error", () => {
  test.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /not trusted.*NODE_EXTRA_CA_CERTS/],
    ["CERT_HAS_EXPIRED", /expired/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /another name/],
  ])("%s", (code, words) => {
    expect(explainCertificateFault(faultWith(code))).toMatch(words);
  });

  test("also where PostgreSQL has no TLS at all", () => {
    expect(explainCertificateFault(new Error("The server does not support SSL connections"))).toMatch(/no TLS/);
  });

  test("and no other error", () => {
    expect(explainCertificateFault(faultWith("ECONNREFUSED"))).toBeNull();
    expect(explainCertificateFault("text")).toBeNull();
  });
});
