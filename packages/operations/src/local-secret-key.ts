import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

const FILE = "secret-key";
const KEY_BYTES = 48;

/** Where the secret key of a data folder is. */
export function localSecretKeyFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** The secret key that a data folder keeps (`SVC_SECRET_KEY` of the embedded mode), or null when it has none. */
export function readLocalSecretKey(dataDir: string): Promise<string | null> {
  return readPrivateFile(localSecretKeyFile(dataDir));
}

/**
 * The secret key of a data folder, made when there is none; only its owner can read it. It is on the disk before
 * anything can be sealed with it. The folder must exist.
 */
export async function ensureLocalSecretKey(dataDir: string): Promise<string> {
  const known = await readLocalSecretKey(dataDir);
  if (known !== null) return known;
  const key = randomBytes(KEY_BYTES).toString("base64url");
  await writePrivateFile(localSecretKeyFile(dataDir), key);
  return key;
}
