import { createHmac } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { EXIT, EXIT_MEANINGS } from "./cli.ts";
import { runCli } from "./run-cli.ts";

async function run(args: string[], env: Record<string, string> = {}, input = "") {
  const written = { stdout: "", stderr: "" };
  const exitCode = await runCli(args, {
    env,
    workingFolder: "/nowhere",
    program: "/usr/bin/svc",
    openInput: () => Readable.from([Buffer.from(input)]),
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
  ["upgrade"],
  ["backup"],
  ["backup", "verify"],
  ["restore"],
  ["ask"],
  ["kb", "add"],
  ["kb", "sync"],
  ["kb", "list"],
  ["kb", "search"],
  ["kb", "remove"],
  ["agents", "list"],
  ["agents", "create"],
  ["agents", "change"],
  ["agents", "delete"],
  ["agents", "ask"],
  ["dead-letters", "list"],
  ["keys", "list"],
  ["keys", "create"],
  ["keys", "import"],
  ["keys", "revoke"],
  ["keys", "rotate"],
  ["tool-calls", "list"],
  ["tool-calls", "approve"],
  ["tools", "list"],
  ["tools", "call"],
  ["deliveries", "list"],
  ["deliveries", "replay"],
  ["channels", "list"],
  ["channels", "enable"],
  ["channels", "disable"],
  ["dead-letters", "retry"],
  ["webhook", "verify"],
  ["webhook", "secret"],
  ["eval"],
  ["doctor"],
];

/**
 * Returns modules outside of this workspace that a file imports when it is loaded, directly or through other files of
 * the workspace.
 */
async function findImports(file: URL, seen = new Set<string>()): Promise<string[]> {
  if (seen.has(file.href)) return [];
  seen.add(file.href);
  const text = await readFile(file, "utf8");
  const modules = [...text.matchAll(/^(?:import|\}) (?!type ).*?"([^"]+)";$/gms)].flatMap(([, name = ""]) => name);
  const own = modules.filter((name) => name.startsWith("."));
  const others = await Promise.all(own.map((name) => findImports(new URL(name, file), seen)));
  return [...modules.filter((name) => !name.startsWith(".")), ...others.flat()];
}

test("the version and the help do not load the product", async () => {
  const imports = await findImports(new URL("main.ts", import.meta.url));
  expect(imports).toContain("commander");
  expect(imports.filter((name) => name.startsWith("@svc/"))).toEqual([]);
});

/**
 * Modules that the help of a command may load: the contracts, for limits and choices, and the client, which has no
 * dependencies.
 */
const LOADED_WITH_HELP = ["@svc/client", "@svc/contracts", "@svc/primitives"];

test("the help of a command only loads contracts and client", async () => {
  const folder = new URL("commands/", import.meta.url);
  const files = (await readdir(folder)).filter((file) => !file.endsWith(".test.ts"));
  expect(files).toContain("kb.ts");
  for (const file of files) {
    const imports = await findImports(new URL(file, folder));
    const heavy = imports.filter((name) => name.startsWith("@") && !LOADED_WITH_HELP.includes(name));
    expect({ file, heavy }).toEqual({ file, heavy: [] });
  }
  expect(await findImports(new URL("with-resources.ts", import.meta.url))).toContain("@svc/runtime");
});

describe("the help", () => {
  test("lists every command and every exit code", async () => {
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

describe("an invalid command line", () => {
  test.each([
    ["no command", []],
    ["an unknown command", ["frobnicate"]],
    ["an unknown option", ["doctor", "--frobnicate"]],
    ["a missing argument", ["kb", "add"]],
    ["a sitemap that is no address", ["kb", "add", "--sitemap", "sitemap.xml"]],
    ["pages beyond the limit", ["kb", "add", "a.md", "--max-pages", "10001"]],
    ["nothing to keep in step with", ["kb", "sync"]],
    ["nothing to search for", ["kb", "search"]],
    ["passages beyond the limit", ["kb", "search", "hello", "--limit", "51"]],
    ["documents of no knowledge base", ["kb", "remove", "a.md"]],
    ["no document to remove", ["kb", "remove", "--kb", "guide"]],
    ["documents and all of them", ["kb", "remove", "a.md", "--all", "--kb", "guide"]],
    ["an app that does not exist", ["start", "widgets"]],
    ["a timeout that is no number", ["ask", "hello", "--timeout", "soon"]],
    ["a timeout beyond the limit", ["ask", "hello", "--timeout", "121"]],
    ["an address that is none", ["ask", "hello", "--url", "localhost"]],
    ["nothing to ask", ["ask"]],
    ["a message id that is none", ["dead-letters", "retry", "1"]],
    ["a scope that is none", ["keys", "create", "name", "--scope", "messages:fly"]],
    ["a key without a scope", ["keys", "create", "name"]],
    ["an expiry that is none", ["keys", "create", "name", "--scope", "kb:read", "--expires", "soon"]],
    ["a rate limit that is none", ["keys", "create", "name", "--scope", "kb:read", "--rate-limit", "0"]],
    ["a key on the command line", ["keys", "import", "name", "a-key-0123456789", "--scope", "kb:read"]],
    ["a key's overlap beyond the limit", ["keys", "rotate", "svc_0123", "--overlap", "8d"]],
    ["a tool call's id that is none", ["tool-calls", "approve", "1"]],
    ["a delivery id that is none", ["deliveries", "replay", "1"]],
    ["neither a delivery nor all dead ones", ["deliveries", "replay"]],
    ["a state that is none", ["deliveries", "list", "--state", "lost"]],
    ["a limit beyond what a page has", ["deliveries", "list", "--limit", "201"]],
    ["a channel that does not exist", ["channels", "enable", "fax"]],
    ["a callback without headers", ["webhook", "verify"]],
    ["a callback without a secret", ["webhook", "verify", "--signature", "sha256=ab"]],
    ["headers from two places", ["webhook", "verify", "--headers-file", "a", "--signature", "sha256=ab"]],
    ["headers and body both from standard input", ["webhook", "verify", "--headers-file", "-"]],
    ["an age that is none", ["webhook", "verify", "--max-age", "old"]],
    ["no secret to set", ["webhook", "secret"]],
    ["two secrets to set", ["webhook", "secret", "--generate", "--clear"]],
    ["an overlap beyond the limit", ["webhook", "secret", "--generate", "--overlap", "31d"]],
    ["no backup to restore", ["restore"]],
    ["no backup to verify", ["backup", "verify"]],
    ["a question that nobody can answer", ["restore", "-", "--replace"]],
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

describe("an invalid configuration", () => {
  test("ends with exit code 78 and lists every error, without the value of a secret", async () => {
    const env = { SVC_API_PORT: "many", SVC_ADMIN_KEY: "hunter2" };
    const { stderr, exitCode } = await run(["ask", "hello"], env);
    expect(exitCode).toBe(EXIT.configuration);
    expect(stderr).toContain("SVC_API_PORT must be a port number");
    expect(stderr).toContain("SVC_ADMIN_KEY must be at least 16 characters");
    expect(stderr).not.toContain("hunter2");
  });

  test("is one failed check of the doctor per error, with a hint about misspelled names", async () => {
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
      "warn SVC_API_PROT is not a setting and has no effect",
    ]);
  });

  test("is a warning of the doctor if single sign-on would redirect to any host", async () => {
    const oidc = { SVC_OIDC_ISSUER: "https://login.example.com", SVC_OIDC_CLIENT_ID: "x", SVC_OIDC_CLIENT_SECRET: "y" };
    const warn = "warn SVC_OIDC_ISSUER is set without SVC_PUBLIC_URLS";
    const see = async (env: Record<string, string>) => {
      // An invalid folder: nothing beyond the settings is checked.
      const dataDir = { SVC_DATA_DIR: "/nonexistent-folder-of-a-test" };
      const { stdout } = await run(["doctor", "--json"], { ...oidc, ...dataDir, ...env });
      const { checks } = JSON.parse(stdout) as { checks: { status: string; detail: string }[] };
      return checks.some(({ status, detail }) => `${status} ${detail}`.startsWith(warn));
    };
    expect(await see({ SVC_TRUST_PROXY: "10.0.0.1" })).toBe(true);
    expect(await see({ SVC_TRUST_PROXY: "10.0.0.1", SVC_PUBLIC_URLS: "https://console.example.com" })).toBe(false);
    expect(await see({})).toBe(false);
  });

  test("is a warning of the doctor if a proxy is not listed, so that its callers share limits", async () => {
    const see = async (env: Record<string, string>) => {
      const { stdout } = await run(["doctor", "--json"], { SVC_DATA_DIR: "/nonexistent-folder-of-a-test", ...env });
      const { checks } = JSON.parse(stdout) as { checks: { status: string; detail: string }[] };
      return checks.some(({ status, detail }) => status === "warn" && detail.includes("SVC_TRUST_PROXY lists none"));
    };
    expect(await see({ SVC_PUBLIC_URLS: "http://localhost:8080,https://widget.example.com" })).toBe(true);
    expect(await see({ SVC_PUBLIC_URLS: "https://widget.example.com", SVC_TRUST_PROXY: "10.0.0.1" })).toBe(false);
    expect(await see({ SVC_PUBLIC_URLS: "http://localhost:8080" })).toBe(false);
    expect(await see({})).toBe(false);
  });
});

describe("a callback is verified without a running service", () => {
  const secret = "the secret of a receiver";
  const body = '{"ok":true}';
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const args = ["webhook", "verify", "--signature", signature];

  test("genuine: exit code 0", async () => {
    const { stdout, exitCode } = await run(args, { SVC_WEBHOOK_SECRET: secret }, body);
    expect({ exitCode, stdout }).toEqual({ exitCode: EXIT.ok, stdout: expect.stringMatching(/^valid: /) });
    const inJson = await run([...args, "--json"], { SVC_WEBHOOK_SECRET: secret }, body);
    expect(JSON.parse(inJson.stdout)).toMatchObject({ ok: true, scheme: "body" });
  });

  test("not genuine: exit code 1 and the reason", async () => {
    const { stdout, exitCode } = await run(args, { SVC_WEBHOOK_SECRET: secret }, `${body}\n`);
    expect(exitCode).toBe(EXIT.failed);
    expect(stdout).toMatch(/^not valid: .*\nIt is valid for this body without the trailing line break/);
    const inJson = await run([...args, "--json"], { SVC_WEBHOOK_SECRET: "another one" }, body);
    expect(inJson.exitCode).toBe(EXIT.failed);
    expect(JSON.parse(inJson.stdout)).toMatchObject({ ok: false, error: { code: "bad_signature" }, scheme: "body" });
  });

  test("with an invalid secret: exit code 1, and the secret is not shown", async () => {
    const { stderr, exitCode } = await run(args, { SVC_WEBHOOK_SECRET: "whsec_planted-no-base64" }, body);
    expect(exitCode).toBe(EXIT.failed);
    expect(stderr).toContain("after whsec_ must be padded base64");
    expect(stderr).not.toContain("planted");
  });
});
