import { randomBytes, scryptSync } from "node:crypto";

/** What it costs, as a power of two: next to nothing, where the service's own hashes take a third of a second. */
const COST = 4;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * The hash of a password as `hashPassword` of packages/auth writes it, with parameters that cost nothing: for operators
 * who sign in often. A hash carries its parameters, so the service checks it as any other.
 */
export function hashCheaply(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const key = scryptSync(password.normalize("NFKC"), salt, KEY_BYTES, { N: 2 ** COST, r: 8, p: 1 });
  return `$scrypt$ln=${COST},r=8,p=1$${salt.toString("base64url")}$${key.toString("base64url")}`;
}
