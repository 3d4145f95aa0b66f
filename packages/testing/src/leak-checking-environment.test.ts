import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawnChild } from "./child-process.ts";
import { repositoryPath, childEnvironment } from "./test-settings.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-test-jest-"));
  await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs one test file in a jest of its own, with the environment of this repository. */
async function runJest(body: string): Promise<{ code: number | null; output: string }> {
  const dist = repositoryPath("packages/testing/dist");
  await writeFile(
    join(folder, "some.test.js"),
    `import { startProcess } from ${JSON.stringify(`${dist}/index.js`)};
     import { holdResource } from ${JSON.stringify(`${dist}/held-resources.js`)};
     const start = () => startProcess({ file: ${JSON.stringify(join(folder, "sleeper.js"))}, env: {}, name: "sleeper" });
     ${body}`,
  );
  await writeFile(join(folder, "sleeper.js"), "setInterval(() => {}, 1000);");
  const config = { testEnvironment: `${dist}/leak-checking-environment.js`, transform: {} };
  const jest = await spawnChild({
    name: "jest",
    command: process.execPath,
    args: [
      "--experimental-vm-modules",
      repositoryPath("node_modules/jest/bin/jest.js"),
      `--config=${JSON.stringify(config)}`,
      `--rootDir=${folder}`,
    ],
    env: childEnvironment(),
    cwd: folder,
  });
  const { code } = await jest.exited;
  return { code, output: jest.output() };
}

test("a test file that leaves a process running fails and names it, and the process is ended", async () => {
  const { code, output } = await runJest(`test("leaks", async () => console.log("pid", (await start()).pid, "."));`);
  expect(output).toMatch(/left something running[^]*sleeper \(process \d+\)/);
  expect(code).toBe(1);
  const pid = Number(/pid (\d+)/.exec(output)?.[1]);
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
});

test("what is kept until the end of a file is ended with it, and is no leak", async () => {
  const { code, output } = await runJest(`
    test("keeps", () => void holdResource(null, async () => console.log("ended", "what was kept")));`);
  expect(output).toContain("ended what was kept");
  expect(code).toBe(0);
});

test("a leak is reported beside the test that failed, and is ended by code that loads a module for it", async () => {
  const { code, output } = await runJest(`
    test("fails first", async () => {
      await start();
      holdResource("lazy server", async () => void (await import("node:dgram")).createSocket("udp4").close());
      holdResource("stubborn server", () => Promise.reject(new Error("it does not stop")));
      throw new Error("the cause");
    });`);
  expect(output).toMatch(/● fails first\s+the cause/);
  expect(output).toMatch(
    /left something running[^]*sleeper \(process \d+\), lazy server, stubborn server \(still there: /,
  );
  expect(output).toContain("it does not stop");
  expect(output).not.toMatch(/has been torn down/);
  expect(code).toBe(1);
});

test("a test file that ends what it starts in its last hook passes", async () => {
  const { code, output } = await runJest(`
    let child;
    afterAll(async () => { await child.kill(); });
    test("cleans up", async () => { child = await start(); });`);
  expect(output).not.toMatch(/left something running/);
  expect(code).toBe(0);
});

test("errors of files and sockets are instances of Error here as anywhere, and of nothing else", async () => {
  class OwnError extends Error {}
  const failed: unknown = await readFile(join(folder, "not there")).catch((error: unknown) => error);
  expect(failed instanceof Error).toBe(true);
  expect(failed instanceof OwnError).toBe(false);
  expect(failed instanceof TypeError).toBe(false);
  const refused: unknown = await fetch("http://127.0.0.1:1/").catch((error: unknown) => error);
  expect(refused instanceof TypeError).toBe(true);
  expect(new OwnError("own") instanceof OwnError).toBe(true);
  expect(new OwnError("own") instanceof Error).toBe(true);
  expect({ message: "no error" } instanceof Error).toBe(false);
});
