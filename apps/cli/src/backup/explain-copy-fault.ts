import type { StoreCopyFault } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";

const KEY_ADVICE =
  "Set SVC_SECRET_KEY to the key of the installation that the backup comes from. An embedded installation stores it in\n" +
  "the file secret-key in its data folder: copy that file into this data folder.";

/** What to do about each fault. */
const ADVICE: Record<StoreCopyFault, (cli: Cli) => string> = {
  busy: () => "Retry when it is complete.",
  newer_database: () => "Nothing was changed.",
  no_schema: ({ startWith }) => `Start the service once with: ${startWith}`,
  newer_copy: () => "Restore it with that version.",
  wrong_key: () => KEY_ADVICE,
  in_use: () =>
    "Stop it first. A killed process is still counted for some seconds. With --force, the check is skipped.",
  not_empty: () => "To replace the existing content with the backup, add --replace.",
  bad_copy: () => "Nothing was changed.",
};

/** A fault of a copy with what to do about it; anything else as it is. Known by name, since its package is loaded late. */
export function explainCopyFault(cli: Cli, error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "StoreCopyError" || !("fault" in error)) return error;
  const fault = error.fault as StoreCopyFault;
  return new CliError(fault, EXIT.failed, `${error.message}\n${ADVICE[fault](cli)}`, { cause: error });
}
