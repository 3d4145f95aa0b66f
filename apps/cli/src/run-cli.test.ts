import { describe, expect, test } from "@jest/globals";
import { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
import { runCli } from "./run-cli.ts";

async function run(args: string[], env: Record<string, string> = {}) {
  const written = { stdout: "", stderr: "" };
  const exitCode = await runCli(args, {
    env,
    workingFolder: "/nowhere",
    program: "/usr/bin/svc",
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
  });
  return { ...written, exitCode };
}

const COMMANDS = [
  ["up"],
  ["start"],
  ["init"],
  ["migrate"],
  ["ask"],
  ["kb", "add"],
  ["dead-letters", "list"],
  ["dead-letters", "retry"],
  ["doctor"],
];

describe("the help", () => {
  test("names every command and every exit code", async () => {
    const { stdout, stderr, exitCode } = await run(["--help"]);
    expect(exitCode).toBe(EXIT.ok);
    expect(stderr).toBe("");
    for (const [command = ""] of COMMANDS) expect(stdout).toContain(`\n  ${command}`);
    for (const code of Object.keys(EXIT_MEANINGS)) expect(stdout).toContain(`\n  ${code} `);
  });

  test.each(COMMANDS)("of %s %s has examples", async (...command) => {
    const { stdout, exitCode } = await run([...command.filter((word) => word !== undefined), "--help"]);
    expect(exitCode).toBe(EXIT.ok);
    expect(stdout).toContain("Examples:\n  ");
  });
});

describe("a command line that is not right", () => {
  test.each([
    ["no command", []],
    ["an unknown command", ["frobnicate"]],
    ["an unknown option", ["doctor", "--frobnicate"]],
    ["a missing argument", ["kb", "add"]],
    ["an app that does not exist", ["start", "widgets"]],
    ["a timeout that is no number", ["ask", "hello", "--timeout", "soon"]],
    ["a timeout beyond the limit", ["ask", "hello", "--timeout", "121"]],
    ["an address that is none", ["ask", "hello", "--url", "localhost"]],
    ["nothing to ask", ["ask"]],
    ["a message id that is none", ["dead-letters", "retry", "1"]],
    ["neither a message nor all", ["dead-letters", "retry"]],
    ["a message and all", ["dead-letters", "retry", "01890a5d-ac96-774b-bcce-b302099a8057", "--all"]],
  ])("ends with exit code 2 and says why on standard error: %s", async (_, args) => {
    const { stdout, stderr, exitCode } = await run(args);
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
  });

  test("is one JSON document on standard output with --json", async () => {
    const { stdout, exitCode } = await run(["doctor", "--json", "--frobnicate"]);
    expect(exitCode).toBe(EXIT.usage);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "usage" } });
  });
});

describe("a bad configuration", () => {
  test("ends with exit code 78 and names every fault, without the value of a secret", async () => {
    const env = { SVC_API_PORT: "many", SVC_ADMIN_KEY: "hunter2" };
    const { stderr, exitCode } = await run(["ask", "hello"], env);
    expect(exitCode).toBe(EXIT.configuration);
    expect(stderr).toContain("SVC_API_PORT must be a port number");
    expect(stderr).toContain("SVC_ADMIN_KEY must be at least 16 characters");
    expect(stderr).not.toContain("hunter2");
  });

  test("is a failed check of the doctor, one for each fault, beside a hint at misspelt names", async () => {
    const env = { SVC_API_PORT: "many", SVC_ADMIN_KEY: "hunter2", SVC_API_PROT: "1" };
    const { stdout, exitCode } = await run(["doctor", "--json"], env);
    expect(exitCode).toBe(EXIT.failed);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] };
    const found = checks
      .filter(({ name }) => name === "Configuration")
      .map(({ status, detail }) => `${status} ${detail}`);
    expect(found).toEqual([
      "fail SVC_ADMIN_KEY must be at least 16 characters",
      "fail SVC_API_PORT must be a port number",
      "warn SVC_API_PROT is not a setting and changes nothing",
    ]);
  });
});
