import { expect, test } from "@jest/globals";
import { describeSsoFault } from "./describe-sso-fault.ts";

test("each way in which single sign-on fails is told in words of its own, and one that is not known all the same", () => {
  const told = ["unknown_operator", "unavailable", "rate_limited", "refused"].map(describeSsoFault);
  expect(new Set(told).size).toBe(4);
  expect(["constructor", "", "x"].map(describeSsoFault)).toEqual(Array(3).fill("signIn.ssoFailed"));
});
