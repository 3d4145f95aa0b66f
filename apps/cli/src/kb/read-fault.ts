import { errorCode } from "@svc/primitives";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "is a link that leads to itself",
};

/** A file that cannot become a document, with the reason as half a sentence. */
export const badFile = (message: string, cause?: unknown): CliError =>
  new CliError("bad_file", EXIT.failed, message, { cause });

/** Why a path cannot be read, as a CliError. Rethrows what is no fault of the path. */
export function faultOfPath(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const code = errorCode(error);
  const reason = code === undefined ? undefined : READ_FAULTS[code];
  if (reason === undefined) throw error;
  return badFile(reason, error);
}
