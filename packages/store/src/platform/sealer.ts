import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import type { Sealed } from "@svc/contracts";

/** Seals and opens secrets at rest, and names what must not be named. */
export interface Sealer {
  seal(secret: string): Sealed;
  /** The secret, or null when it was sealed with another key or has been changed. */
  open(sealed: Sealed): string | null;
  /** The same 16 hexadecimal digits for the same text; without the key nobody can tell or guess the text from them. */
  fingerprint(text: string): string;
}

const FORMAT = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealer with AES-256-GCM; the key is the SHA-256 of `SVC_SECRET_KEY`, which must itself be long and random. */
export function createSealer(secretKey: string): Sealer {
  const key = createHash("sha256").update(secretKey).digest();
  const fingerprintKey = createHmac("sha256", key).update("fingerprint").digest();
  return {
    fingerprint: (text) => createHmac("sha256", fingerprintKey).update(text).digest("hex").slice(0, 16),

    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return { sealed: `${FORMAT}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}` };
    },
    open({ sealed }) {
      const [format, data = ""] = sealed.split(".");
      const bytes = Buffer.from(data, "base64url");
      if (format !== FORMAT || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch {
        // Node throws an untyped Error on a failed tag; the only news in it is that the key or the data is another.
        return null;
      }
    },
  };
}
