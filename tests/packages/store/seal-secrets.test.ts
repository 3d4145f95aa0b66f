import { expect, test } from "@jest/globals";
import type { Sealed } from "@svc/contracts";
import { openStore } from "@svc/store";
import type { Sealer } from "@svc/store";
import { testLog } from "@svc/testing";
import { SECRET_KEY } from "./open-test-store.ts";

/** A sealer needs no database: the store connects with its first query. */
async function withSealer(secretKey: string, run: (sealer: Sealer) => void): Promise<void> {
  const store = openStore({ url: "postgres://nobody@127.0.0.1:1/none", secretKey, log: testLog() });
  run(store.sealer);
  await store.close();
}

/** Returns the encrypted secret with one byte changed. */
function tamper({ sealed }: Sealed, index: number): Sealed {
  const [format = "", data = ""] = sealed.split(".");
  const bytes = Buffer.from(data, "base64url");
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return { sealed: `${format}.${bytes.toString("base64url")}` };
}

test("a fingerprint is the same for the same text and key, and reveals neither", async () => {
  const fingerprints: string[] = [];
  for (const key of [SECRET_KEY, `${SECRET_KEY}0`]) {
    await withSealer(key, (sealer) => {
      for (const text of ["u-42", "u-43", ""]) fingerprints.push(sealer.fingerprint(text));
      expect(sealer.fingerprint("u-42")).toBe(fingerprints.at(-3));
    });
  }
  expect(new Set(fingerprints).size).toBe(6);
  for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
});

test("an encrypted text is decrypted with the same key", async () => {
  await withSealer(SECRET_KEY, (sealer) => {
    for (const secret of ["12345:bot-token", "", "whsec_ключ 🔑 \n\t\u0000", "x".repeat(100_000)]) {
      expect(sealer.open(sealer.seal(secret))).toBe(secret);
    }
  });
});

test("a secret is encrypted differently each time", async () => {
  await withSealer(SECRET_KEY, (sealer) => {
    const sealed = Array.from({ length: 100 }, () => sealer.seal("plain-secret").sealed);
    expect(new Set(sealed).size).toBe(100);
    for (const text of sealed) {
      expect(text).not.toContain("plain-secret");
      expect(Buffer.from(text.split(".")[1] ?? "", "base64url").toString("latin1")).not.toContain("plain-secret");
    }
  });
});

test("another key decrypts nothing", async () => {
  let sealed: Sealed = { sealed: "" };
  await withSealer(SECRET_KEY, (sealer) => {
    sealed = sealer.seal("secret");
  });
  await withSealer(`${SECRET_KEY}0`, (sealer) => expect(sealer.open(sealed)).toBeNull());
});

test("an encrypted text with any changed byte is not decrypted", async () => {
  await withSealer(SECRET_KEY, (sealer) => {
    const sealed = sealer.seal("secret");
    const length = Buffer.from(sealed.sealed.split(".")[1] ?? "", "base64url").length;
    for (let index = 0; index < length; index++) expect(sealer.open(tamper(sealed, index))).toBeNull();
  });
});

test("an invalid encrypted text is not decrypted, without an error", async () => {
  await withSealer(SECRET_KEY, (sealer) => {
    const { sealed } = sealer.seal("secret");
    const texts = [
      "",
      ".",
      "v1.",
      "v1",
      "v1.AAAA",
      "v0.AAAA",
      sealed.slice(0, -4),
      `${sealed}AAAA`,
      sealed.slice(3),
      "💥",
    ];
    for (const text of texts) expect(sealer.open({ sealed: text })).toBeNull();
  });
});
