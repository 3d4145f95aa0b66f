import { describe, expect, test } from "@jest/globals";
import { explainStoreFault } from "./explain-store-fault.ts";

const faultWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("why PostgreSQL is not reached", () => {
  test.each([
    ["ECONNREFUSED", /nothing listens/, false],
    ["ENOTFOUND", /host .* is not known/, false],
    ["57P03", /just starting/, false],
    ["53100", /disk is full/, false],
    ["53300", /no connection left/, false],
    ["28P01", /Check user, password and database/, true],
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted/, true],
    ["XX000", /see the error/, false],
  ])("%s is told in words, and whether waiting helps", (code, words, isLasting) => {
    expect(explainStoreFault(faultWith(code))).toEqual({ words: expect.stringMatching(words), isLasting });
  });

  test("a pooler that rejects settings is named, and waiting does not help", () => {
    const error = Object.assign(new Error("unsupported startup parameter: options"), { code: "08P01" });
    expect(explainStoreFault(error)).toEqual({ words: expect.stringMatching(/connection pooler/), isLasting: true });
  });

  test("of several addresses of one host is told by the first", () => {
    const error = new AggregateError([faultWith("ECONNREFUSED"), faultWith("ENETUNREACH")]);
    expect(explainStoreFault(error).words).toMatch(/nothing listens/);
  });
});
