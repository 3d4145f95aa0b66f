import { explainCertificateError } from "@svc/contracts";
import { redactText } from "@svc/log";
import { CliError, EXIT } from "./cli.ts";
import type { ExitCode } from "./cli.ts";
import { safeText } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

/** An error explained to a user. */
interface Explanation {
  /** Error code for programs. */
  code: string;
  message: string;
  exitCode: ExitCode;
}

/**
 * Errors of packages whose message already says what to do. They are identified by name, because their packages are
 * loaded only when a command needs them.
 */
const KNOWN_ERRORS: Readonly<Record<string, { code: string; exitCode: ExitCode }>> = {
  ConfigError: { code: "configuration", exitCode: EXIT.configuration },
  StartError: { code: "not_started", exitCode: EXIT.failed },
  PortTakenError: { code: "port_taken", exitCode: EXIT.failed },
  CannotListenError: { code: "cannot_listen", exitCode: EXIT.configuration },
  DataFolderInUseError: { code: "data_folder_in_use", exitCode: EXIT.failed },
  SecretKeyMissingError: { code: "no_secret_key", exitCode: EXIT.configuration },
  EmbeddedPostgresError: { code: "embedded_postgres", exitCode: EXIT.failed },
};

/** Exit codes of the errors of the API and the operations; all others have exit code 1. */
const EXIT_OF_SERVICE_ERROR: Readonly<Record<string, ExitCode>> = {
  missing_key: EXIT.notAllowed,
  invalid_key: EXIT.notAllowed,
  insufficient_scope: EXIT.notAllowed,
  project_mismatch: EXIT.notAllowed,
  busy: EXIT.notRunning,
  unavailable: EXIT.notRunning,
  channel_disabled: EXIT.notRunning,
};

const DATABASE_AWAY = {
  exitCode: EXIT.notRunning,
  message: "PostgreSQL is unreachable. Start it, or check the host and port in DATABASE_URL.",
};
const DATABASE_REFUSES = {
  exitCode: EXIT.notAllowed,
  message: "PostgreSQL rejected the connection. Check the user and password in DATABASE_URL.",
};

const POOLER_ADVICE =
  "A connection pooler rejects a parameter of DATABASE_URL, such as `options`. Remove it, or set DATABASE_DIRECT_URL.";

/** Explanations of system error codes and SQLSTATEs of PostgreSQL for users of a command. */
const SYSTEM_ERRORS: Readonly<Record<string, { exitCode: ExitCode; message: string }>> = {
  ECONNREFUSED: DATABASE_AWAY,
  ECONNRESET: DATABASE_AWAY,
  ENOTFOUND: DATABASE_AWAY,
  EAI_AGAIN: DATABASE_AWAY,
  ETIMEDOUT: DATABASE_AWAY,
  EHOSTUNREACH: DATABASE_AWAY,
  ENETUNREACH: DATABASE_AWAY,
  "57P03": DATABASE_AWAY,
  "28P01": DATABASE_REFUSES,
  "28000": DATABASE_REFUSES,
  "42501": {
    exitCode: EXIT.notAllowed,
    message: "The user in DATABASE_URL lacks the required privileges. Use the owner of the database.",
  },
  "3D000": {
    exitCode: EXIT.configuration,
    message: "The database in DATABASE_URL does not exist. Create it, or correct the name.",
  },
  "53100": {
    exitCode: EXIT.failed,
    message: "The disk of PostgreSQL is full. Free disk space; no messages are accepted until then.",
  },
  "53300": {
    exitCode: EXIT.notRunning,
    message: "PostgreSQL has no free connections. Raise max_connections, or run fewer processes.",
  },
  // What PgBouncer sends for a startup parameter that it does not support.
  "08P01": { exitCode: EXIT.configuration, message: POOLER_ADVICE },
  EACCES: {
    exitCode: EXIT.notAllowed,
    message: "This user does not have permission for a file, a folder or a port below 1024.",
  },
  ENOSPC: { exitCode: EXIT.failed, message: "The disk is full. Free disk space and retry." },
  EROFS: { exitCode: EXIT.failed, message: "The disk is read-only. Choose a writable folder." },
};

function fieldOf(error: Error, name: string): string | undefined {
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}

/** pg has no code for a connection attempt that timed out. */
const CONNECTION_LOST = /timeout exceeded when trying to connect|Connection terminated|connection timeout/i;

/**
 * Explains an error in one or two lines that say what to do. Never contains a stack, which is in the log at level
 * debug.
 */
export function explainError(error: unknown): Explanation {
  if (error instanceof CliError) return { code: error.code, exitCode: error.exitCode, message: error.message };
  if (!(error instanceof Error)) return unknownError(String(error));
  const { name, message } = error;
  const code = fieldOf(error, "code");
  const known = KNOWN_ERRORS[name];
  if (known !== undefined) return { ...known, message };
  // The store reports that it is unavailable; the cause has the reason.
  const { cause } = error;
  if (code === "unavailable" && cause instanceof Error && SYSTEM_ERRORS[fieldOf(cause, "code") ?? ""] !== undefined) {
    return explainError(cause);
  }
  if (name === "ServiceError" && code !== undefined) {
    return { code, message, exitCode: EXIT_OF_SERVICE_ERROR[code] ?? EXIT.failed };
  }
  const certificate = explainCertificateError(error);
  if (certificate !== null) {
    const text = `The server cannot be used: ${certificate}. (${message})`;
    return { code: code ?? "certificate", exitCode: EXIT.configuration, message: text };
  }
  const system = code === undefined ? undefined : SYSTEM_ERRORS[code];
  if (code !== undefined && system !== undefined) {
    return { code, exitCode: system.exitCode, message: `${system.message} (${message === "" ? code : message})` };
  }
  if (CONNECTION_LOST.test(message)) return { code: "unavailable", ...DATABASE_AWAY };
  return unknownError(message);
}

function unknownError(message: string): Explanation {
  const [firstLine = ""] = message.split("\n");
  return {
    code: "internal",
    exitCode: EXIT.failed,
    message: `Unexpected error: ${firstLine}. Set SVC_LOG_LEVEL=debug for details.`,
  };
}

/**
 * Reports an error: a line for the user and, with `--json`, the single document of this run. Returns the exit code.
 */
export function reportError(error: unknown, terminal: Terminal, logLevel: string | undefined): ExitCode {
  const { code, exitCode, message } = explainError(error);
  const text = safeText(redactText(message));
  terminal.note(text);
  if (logLevel === "debug" && error instanceof Error) terminal.note(safeText(redactText(error.stack ?? error.message)));
  if (terminal.isJson) terminal.show({ ok: false, error: { code, message: text } }, () => "");
  return exitCode;
}
