import { describe, expect, test } from "@jest/globals";
import { hashPassword, verifyPassword } from "./password.ts";

describe("a password", () => {
  test("is known again by its hash, in every form of Unicode, and no other one is", async () => {
    const password = "correct horsé ﬁne 🐎";
    const hash = await hashPassword(password);
    expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(await verifyPassword(password.normalize("NFD"), hash)).toBe(true);
    expect(await verifyPassword(`${password} `, hash)).toBe(false);
  });

  test("has another hash each time", async () => {
    expect(await hashPassword("the same twice")).not.toBe(await hashPassword("the same twice"));
  });

  test.each([
    null,
    "",
    "the password",
    "$scrypt$ln=17,r=8,p=1$$",
    "$scrypt$ln=0,r=8,p=1$AAAA$AAAA",
    "$scrypt$ln=40,r=99,p=99$AAAA$AAAA",
    "$scrypt$ln=17,r=8,p=1$AAAA$AAAA",
  ])("is not matched by what is no hash of it: %s", async (hash) => {
    expect(await verifyPassword("the password", hash)).toBe(false);
  });
});
