import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { IMPORTED_KEY_MIN_CHARS, generateApiKey, hashApiKey, prefixOfApiKey } from "./api-key.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function fromBase62(text: string): number {
  return Array.from(text).reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
}

describe("a generated key", () => {
  const keys = Array.from({ length: 2_000 }, () => generateApiKey());

  test("is svc_, 32 random characters and the CRC-32 of these, so that a scanner can tell a real one", () => {
    for (const key of keys) {
      const [, secret = "", checksum = ""] = /^svc_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(key) ?? [];
      expect(fromBase62(checksum)).toBe(crc32(secret));
    }
  });

  test("is made once", () => {
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("has every character at every place of its random part", () => {
    for (let place = 4; place < 36; place++) expect(new Set(keys.map((key) => key[place])).size).toBe(62);
  });

  test("shows svc_ and four of its characters, which keys can be told apart by", () => {
    for (const key of keys) expect(prefixOfApiKey(key)).toBe(key.slice(0, 8));
  });
});

test("what is stored of a key is its SHA-256 as UTF-8", () => {
  expect(hashApiKey("abc").toString("hex")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(hashApiKey("Schlüssel 🔑")).toEqual(createHash("sha256").update(Buffer.from("Schlüssel 🔑")).digest());
  expect(hashApiKey("abc")).not.toEqual(hashApiKey("abC"));
});

test("the prefix of a key begins it, and never shows more than a quarter nor more than eight characters", () => {
  for (let length = 0; length <= 200; length++) {
    const key = BASE62.repeat(4).slice(0, length);
    const prefix = prefixOfApiKey(key);
    expect(key.startsWith(prefix)).toBe(true);
    expect(prefix.length).toBeLessThanOrEqual(Math.min(8, length / 4));
  }
  expect(prefixOfApiKey("x".repeat(IMPORTED_KEY_MIN_CHARS))).toBe("xxxx");
});
