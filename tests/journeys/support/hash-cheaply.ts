import { randomBytes, scryptSync } from "node:crypto";

/** scrypt cost; negligible, while the service's own hashes take a third of a second. */
const COST = 4;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * Returns a password hash like `hashPassword` of packages/auth, with negligible cost: for operators who sign in often.
 * A hash contains its parameters, so the service verifies it like any other.
 */
export function hashCheaply(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const key = scryptSync(password.normalize("NFKC"), salt, KEY_BYTES, { N: 2 ** COST, r: 8, p: 1 });
  return `$scrypt$ln=${COST},r=8,p=1$${salt.toString("base64url")}$${key.toString("base64url")}`;
}
