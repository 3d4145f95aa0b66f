import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { runCli } from "@svc/cli";
// Commands import it dynamically and concurrently, which jest's module loader does not support for the first import.
import "@svc/client";
import { DISK_FULL, linesOfPull, startFakeOllama, waitFor } from "@svc/testing";
import type { FakeOllama } from "@svc/testing";
import { SVC_MAIN, documentOf } from "./support/run-svc.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { svcWithin } from "./support/svc-within.ts";

const LLAMA = { name: "llama3.2:3b", sizeBytes: 2_019_393_189, contextWindow: 131_072 };

let ollama: FakeOllama;
let product: Product;
let env: Record<string, string>;

beforeAll(async () => {
  ollama = await startFakeOllama([LLAMA]);
  product = await startProduct({ composition: "standalone", env: { SVC_LLM_BASE_URL: ollama.baseUrl } });
  env = { SVC_ADMIN_KEY: product.adminKey, SVC_API_PORT: new URL(product.composition.apiUrls[0] ?? "").port };
});
beforeEach(() => ollama.pullWith(() => linesOfPull()));
afterAll(async () => {
  await product?.stop();
  await ollama?.close();
});

const models = (...words: string[]) => svcWithin(env, "", "models", ...words);

/** Makes downloads hang in the middle until the returned function is called. */
function holdPulls(): () => void {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: held }, ...linesOfPull().slice(3)]);
  return letGo;
}

/** Runs a command on a terminal. */
function watched(...words: string[]) {
  const written = { stdout: "", stderr: "" };
  const running = runCli(["models", ...words], {
    env,
    workingFolder: tmpdir(),
    program: SVC_MAIN,
    openInput: () => Object.assign(Readable.from([]), { isTTY: false }),
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text), isTTY: true, columns: 100 },
  });
  return { written, running };
}

test("the list shows for each model its size and whether it can be used", async () => {
  const { stdout, stderr, code } = await models("list", "--q", "llama3.2");
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["MODEL", "SIZE", "CONTEXT", "STATE"],
    ["openai:llama3.2:3b", "2.0 GB", "131072", "installed"],
    ["openai:llama3.2:1b", "1.3 GB", "131072", "not installed"],
    [""],
  ]);
  const { document } = documentOf(await models("list", "--limit", "1", "--json"), ["list"]);
  expect(document).toMatchObject({ ok: true, items: [{ catalogId: "openai:llama3.2:3b" }], unreachable: [] });
  expect((await models("list", "--limit", "1")).stdout).toMatch(/Next page: {2}svc models list --limit 1 --cursor \S+/);
});

test("a pull prints its progress in lines, and that the model is ready", async () => {
  const { stdout, stderr, code } = await models("pull", "tiny:1b");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Installed: openai:tiny:1b \(1\.0 MB\)\n/);
  expect(stderr).not.toContain("\u001b");
  expect(ollama.installed().map(({ name }) => name)).toContain("tiny:1b");
  const { document } = documentOf(await models("pull", "tiny:1b", "--json"), ["pull"]);
  expect(document).toMatchObject({ ok: true, status: "success", completedBytes: 1_000_000 });
});

test("a pull shows a bar on a terminal; Ctrl-C stops watching and reports that, and --cancel cancels the pull", async () => {
  const letGo = holdPulls();
  const { written, running } = watched("pull", "held:1b");
  await waitFor(() => /\[#{12}\.{12}\] {2}50 % {2}500 kB of 1\.0 MB/.test(written.stderr), { what: "the bar" });
  process.emit("SIGINT");
  expect(await running).toBe(130);
  expect(written.stderr).toContain("The pull continues in the background.\n");
  expect(written.stderr).toContain("svc models pull held:1b --cancel");
  expect(ollama.pulls.filter(({ name, isOpen }) => name === "held:1b" && isOpen)).toHaveLength(1);

  expect(await models("pull", "held:1b", "--cancel")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Cancelled: openai:held:1b\./),
  });
  await waitFor(() => ollama.pulls.every(({ isOpen }) => !isOpen), { what: "Ollama to be hung up on" });
  const again = await models("pull", "held:1b", "--cancel");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("is not being pulled") });
  letGo();
});

test("errors include advice", async () => {
  ollama.pullWith(() => DISK_FULL);
  const full = await models("pull", "large:70b", "--json");
  expect(full.code).toBe(1);
  expect(documentOf(full, ["pull"]).document).toMatchObject({
    ok: false,
    error: { code: "disk_full", message: expect.stringContaining("Free disk space there") },
  });
  expect(await models("pull", "../x")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("not a valid model name"),
  });
  const away = await svcWithin({ ...env, SVC_API_PORT: "9" }, "", "models", "list");
  expect(away).toMatchObject({ code: 3, stderr: expect.stringContaining("Start it with") });
});
