import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { freePort, spawnChild, waitFor } from "@svc/testing";
import type { ChildProcess } from "@svc/testing";

/** A language in which docs/webhooks.md has a receiver. */
export interface ReceiverLanguage {
  name: string;
  /** File name on the page. */
  fileName: string;
  /** The program that runs it. */
  program: string;
  /** Returns its arguments for a file and a port. */
  args(file: string, port: number): string[];
  /** The call that checks the Standard Webhooks signature, and the one that checks X-Svc-Signature. */
  standardCall: string;
  simpleCall: string;
  /** True if its process remembers handled callbacks. */
  remembers: boolean;
  /** Compiles it first. */
  compile?(file: string): { args: string[]; output: string };
}

/** A running receiver of the page. */
export interface DocReceiver {
  url: string;
  process: ChildProcess;
}

const FOLDERS = [
  dirname(process.execPath),
  "/usr/local/bin",
  "/usr/bin",
  "/usr/sbin",
  "/bin",
  "/usr/local/go/bin",
  "/opt/homebrew/bin",
];

/** The languages of the page. */
export const RECEIVER_LANGUAGES: ReceiverLanguage[] = [
  {
    name: "Node.js",
    fileName: "receiver.mjs",
    program: "node",
    args: (file) => [file],
    standardCall: "!verifyStandard(request.headers, body)",
    simpleCall: "!verifySimple(request.headers, body)",
    remembers: true,
  },
  {
    name: "Python",
    fileName: "receiver.py",
    program: "python3",
    args: (file) => [file],
    standardCall: "not verify_standard(self.headers, body)",
    simpleCall: "not verify_simple(self.headers, body)",
    remembers: true,
  },
  {
    name: "PHP",
    fileName: "receiver.php",
    program: "php",
    args: (file, port) => ["-S", `127.0.0.1:${port}`, file],
    standardCall: "!verify_standard($body)",
    simpleCall: "!verify_simple($body)",
    remembers: false,
  },
  {
    name: "Go",
    fileName: "receiver.go",
    program: "go",
    args: () => [],
    standardCall: "!verifyStandard(request.Header, body)",
    simpleCall: "!verifySimple(request.Header, body)",
    remembers: true,
    compile: (file) => ({ args: ["build", "-o", `${file}.run`, file], output: `${file}.run` }),
  },
];

/** Returns the path of a program, or null if it is not installed. */
export function findProgram(name: string): string | null {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Returns a text with one call replaced, which must occur exactly once. */
export function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${from} stands there ${parts.length - 1} times, not once.`);
  return parts.join(to);
}

/** Writes a receiver to a folder, compiles it if its language requires that, and returns its command. */
export async function prepareDocReceiver(
  language: ReceiverLanguage,
  { code, folder, name }: { code: string; folder: string; name: string },
): Promise<(port: number) => { command: string; args: string[] }> {
  const program = findProgram(language.program);
  if (program === null) throw new Error(`There is no ${language.program} here.`);
  const file = join(folder, `${name}-${language.fileName}`);
  await writeFile(file, code);
  const compile = language.compile?.(file);
  if (compile === undefined) return (port) => ({ command: program, args: language.args(file, port) });
  const compiler = await spawnChild({
    name: `${language.name} compiler`,
    command: program,
    args: compile.args,
    env: env(),
  });
  const { code: exitCode } = await compiler.exited;
  if (exitCode !== 0) throw new Error(`The receiver in ${language.name} does not compile:\n${compiler.output()}`);
  return () => ({ command: compile.output, args: [] });
}

/** Starts a receiver with these secrets, and waits until it responds. Rejects if it exits. */
export async function startDocReceiver(
  commandOn: (port: number) => { command: string; args: string[] },
  { name, secrets }: { name: string; secrets: string[] },
): Promise<DocReceiver> {
  const port = await freePort();
  const child = await spawnChild({
    name,
    ...commandOn(port),
    env: { ...env(), PORT: String(port), SVC_WEBHOOK_SECRET: secrets.join(" ") },
  });
  const url = `http://127.0.0.1:${port}/svc`;
  const answers = async () => !child.isRunning() || (await fetch(url)).status > 0;
  await waitFor(answers, { what: () => `${name} to answer. Its output:\n${child.output()}`, timeoutMs: 20_000 });
  if (!child.isRunning()) throw new Error(`${name} ended. Its output:\n${child.output()}`);
  return { url, process: child };
}

/** HOME contains the build caches of compilers. */
const env = () => ({ PATH: FOLDERS.join(delimiter), HOME: homedir() });
