import { localKeyFile, readLocalKey } from "@svc/operations";
import { errorCode } from "@svc/primitives";
import type { EarlyConfig } from "@svc/runtime";
import type { Cli } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";

/** The key that this command line uses: SVC_ADMIN_KEY, else the credential in the data folder; null without both. */
export async function findKey({ adminKey, dataDir }: EarlyConfig): Promise<string | null> {
  if (adminKey !== undefined) return adminKey;
  try {
    return await readLocalKey(dataDir);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw new CliError(
      "no_key",
      EXIT.notAllowed,
      `Only its owner can read ${localKeyFile(dataDir)}. Run this command as the user that started the service, or set SVC_ADMIN_KEY.`,
      { cause: error },
    );
  }
}

/** The same, but throws CliError `no_key` where there is none. */
export async function getKey(cli: Cli, config: EarlyConfig): Promise<string> {
  const key = await findKey(config);
  if (key !== null) return key;
  throw new CliError(
    "no_key",
    EXIT.notAllowed,
    `There is no key in ${config.dataDir}. Start the service with: ${cli.startWith}\n` +
      "If it runs elsewhere, set SVC_ADMIN_KEY to one of its keys, or SVC_DATA_DIR to its data folder.",
  );
}
