import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
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

/** The secret key that the database of a data folder was set up with is not in the folder. */
export class SecretKeyMissingError extends Error {
  constructor(dataDir: string) {
    const file = resolve(localSecretKeyFile(dataDir));
    super(
      `There is no secret key in ${file}, and this database was set up with one. Put the file back from your copy, or set SVC_SECRET_KEY to that key.`,
    );
    this.name = "SecretKeyMissingError";
  }
}

/**
 * Returns the secret key of a data folder. Creates one if there is none and the database is still to be made: another
 * key would open nothing of an existing one. Only its owner can read the file, which is on the disk before anything can be
 * sealed with it. The folder must exist. Throws SecretKeyMissingError.
 */
export async function ensureLocalSecretKey(dataDir: string, { hasData }: { hasData: boolean }): Promise<string> {
  const known = await readLocalSecretKey(dataDir);
  if (known !== null) return known;
  if (hasData) throw new SecretKeyMissingError(dataDir);
  const key = randomBytes(KEY_BYTES).toString("base64url");
  await writePrivateFile(localSecretKeyFile(dataDir), key);
  return key;
}
