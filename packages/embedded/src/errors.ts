import { errorCode } from "@svc/primitives";

/** The part of a logger that this package uses; a pino logger fits. */
export type PostgresLogger = {
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
};

/**
 * Resolves as the given file operation does, or to null if the file or folder does not exist. Other errors are passed
 * on.
 */
export async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** What went wrong, for a caller that handles it; the message says what to do. */
type EmbeddedPostgresErrorCode =
  | "binaries_missing"
  | "binaries_unusable"
  | "account_missing"
  | "folder_unusable"
  | "version_mismatch"
  | "database_name_invalid"
  | "tool_failed"
  | "password_wrong"
  | "no_loopback"
  | "port_taken"
  | "folder_busy"
  | "start_failed"
  | "start_aborted"
  | "stop_failed";

/** Any failure of the embedded Postgres except a folder in use; `message` ends with what to do next. */
export class EmbeddedPostgresError extends Error {
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbeddedPostgresError";
    this.code = code;
  }
}

/** Another running process owns the data folder; `pid` is its id. */
export class DataFolderInUseError extends Error {
  readonly dataDir: string;
  readonly pid: number;

  constructor(dataDir: string, pid: number) {
    super(
      `The data folder ${dataDir} is in use by process ${pid}. ` +
        `Stop that process, or set SVC_DATA_DIR to another folder.`,
    );
    this.name = "DataFolderInUseError";
    this.dataDir = dataDir;
    this.pid = pid;
  }
}
