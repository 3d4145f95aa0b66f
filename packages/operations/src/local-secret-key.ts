import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE = "secret-key";
const KEY_BYTES = 48;

/** The secret key that a data folder keeps (`SVC_SECRET_KEY` of the embedded mode), or null when it has none. */
export async function readLocalSecretKey(dataDir: string): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, FILE), "utf8")).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** The secret key of a data folder, made when there is none; only its owner can read it. The folder must exist. */
export async function ensureLocalSecretKey(dataDir: string): Promise<string> {
  const known = await readLocalSecretKey(dataDir);
  if (known !== null) return known;
  const key = randomBytes(KEY_BYTES).toString("base64url");
  const file = join(dataDir, FILE);
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  // A file that somebody made beforehand keeps its mode when it is written.
  await chmod(file, 0o600);
  return key;
}
