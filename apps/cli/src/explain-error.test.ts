import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { DataFolderInUseError, EmbeddedPostgresError } from "@svc/embedded";
import { ConfigError, StartError } from "@svc/runtime";
import { CliError, EXIT, InterruptedError } from "./cli.ts";
import { explainError } from "./explain-error.ts";

const withCode = (code: string, message = "it failed") => Object.assign(new Error(message), { code });

/** If the system tries several addresses, its error has a code but no text. */
const unreachable = Object.assign(new AggregateError([withCode("ECONNREFUSED")], ""), { code: "ECONNREFUSED" });

describe("an error ends the command with the exit code of its kind", () => {
  test.each<[string, unknown, number]>([
    ["bad configuration", new ConfigError(["SVC_API_PORT must be a port number"]), EXIT.configuration],
    ["a failed start", new StartError("Run: svc migrate"), EXIT.failed],
    ["a folder in use", new DataFolderInUseError("/data", 42), EXIT.failed],
    ["an embedded Postgres", new EmbeddedPostgresError("start_failed", "No space."), EXIT.failed],
    ["a wrong key", new ServiceError("invalid_key", "This key is unknown."), EXIT.notAllowed],
    ["a missing scope", new ServiceError("insufficient_scope", "This key lacks it."), EXIT.notAllowed],
    ["a store that is away", new ServiceError("unavailable", "Retry."), EXIT.notRunning],
    ["something that is not there", new ServiceError("not_found", "There is none."), EXIT.failed],
    ["a refused connection", unreachable, EXIT.notRunning],
    ["a connection that takes too long", new Error("timeout exceeded when trying to connect"), EXIT.notRunning],
    ["a wrong password", withCode("28P01"), EXIT.notAllowed],
    ["a pooler that rejects settings", withCode("08P01", "unsupported startup parameter: options"), EXIT.configuration],
    ["a database that does not exist", withCode("3D000"), EXIT.configuration],
    ["a command's own fault", new CliError("usage", EXIT.usage, "Say what."), EXIT.usage],
    ["Ctrl-C", new InterruptedError(), EXIT.interrupted],
    ["anything else", new TypeError("x is not a function"), EXIT.failed],
    ["what is no error at all", "text", EXIT.failed],
  ])("%s", (_, error, exitCode) => {
    expect(explainError(error).exitCode).toBe(exitCode);
  });
});

describe("the explanation of an error", () => {
  test("of a store that is unavailable because of a pooler contains the pooler and its error", () => {
    const cause = withCode("08P01", "unsupported startup parameter: options");
    const { message } = explainError(new ServiceError("unavailable", "Retry.", { cause }));
    expect(message).toMatch(/pooler.*DATABASE_URL.*unsupported startup parameter: options/);
  });

  test("keeps the text of an error with advice", () => {
    expect(explainError(new StartError("Run: svc migrate")).message).toBe("Run: svc migrate");
  });

  test("is one line that explains how to learn more if the error is unknown, and never a stack", () => {
    const { message } = explainError(new TypeError("x is not a function\n    at file.js:1:1"));
    expect(message).toBe("Unexpected error: x is not a function. Set SVC_LOG_LEVEL=debug for details.");
  });

  test("contains the system's reason beside the advice", () => {
    expect(explainError(unreachable).message).toContain("DATABASE_URL. (ECONNREFUSED)");
    expect(explainError(withCode("ENOSPC", "write ENOSPC")).message).toBe(
      "The disk is full. Free disk space and retry. (write ENOSPC)",
    );
  });
});
