import { expect, test } from "@jest/globals";
import { csrfTokenOf, generateToken, hashToken, isCsrfTokenOf, isToken } from "./operator-session.ts";

test("tokens are of 32 random bytes, and no two are alike", () => {
  const tokens = Array.from({ length: 100 }, generateToken);
  expect(new Set(tokens).size).toBe(100);
  for (const token of tokens) expect(isToken(token)).toBe(true);
  for (const text of ["", "x", `${tokens[0]}a`, `${tokens[0]?.slice(1)}=`]) expect(isToken(text)).toBe(false);
});

test("the proof of a page belongs to one session, and tells neither its token nor what is stored of it", () => {
  const [one, other] = [generateToken(), generateToken()];
  expect(isCsrfTokenOf(one, csrfTokenOf(one))).toBe(true);
  for (const wrong of [undefined, "", "x", csrfTokenOf(other), csrfTokenOf(one).slice(1), one]) {
    expect(isCsrfTokenOf(one, wrong)).toBe(false);
  }
  expect([one, hashToken(one).toString("base64url")]).not.toContain(csrfTokenOf(one));
});
