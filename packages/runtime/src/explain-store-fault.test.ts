import { describe, expect, test } from "@jest/globals";
import { explainStoreFault } from "./explain-store-fault.ts";

const faultWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("why PostgreSQL is not reached", () => {
  test.each([
    ["ECONNREFUSED", /no server is listening/, false],
    ["ENOTFOUND", /host name .* does not exist/, false],
    ["57P03", /is starting/, false],
    ["53100", /disk is full/, false],
    ["53300", /no free connections/, false],
    ["28P01", /Check the user, password and database/, true],
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted/, true],
    ["XX000", /see the attached error/, false],
  ])("%s is told in words, and whether waiting helps", (code, words, isLasting) => {
    expect(explainStoreFault(faultWith(code))).toEqual({ words: expect.stringMatching(words), isLasting });
  });

  test("a pooler that rejects settings is named, and waiting does not help", () => {
    const error = Object.assign(new Error("unsupported startup parameter: options"), { code: "08P01" });
    expect(explainStoreFault(error)).toEqual({ words: expect.stringMatching(/connection pooler/), isLasting: true });
  });

  test("of several addresses of one host is told by the first", () => {
    const error = new AggregateError([faultWith("ECONNREFUSED"), faultWith("ENETUNREACH")]);
    expect(explainStoreFault(error).words).toMatch(/no server is listening/);
  });
});
