import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";

/** What is wrong with a backup file: `cut_off`, `damaged`, or `no_backup` when it never was one. */
export class BackupFileError extends CliError {
  constructor(code: "cut_off" | "damaged" | "no_backup", message: string, options?: ErrorOptions) {
    super(code, EXIT.failed, message, options);
    this.name = "BackupFileError";
  }
}
