import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawnChild } from "../child-process.ts";
import { repositoryPath, childEnvironment } from "../test-settings.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-test-jest-"));
  await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
  await writeFile(join(folder, "sleeper.js"), "setInterval(() => {}, 1000);");
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs these files in one process of a jest of its own, as jest runs those here. */
async function runFiles(files: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const rootDir = await mkdtemp(join(folder, "run-"));
  await Promise.all(Object.entries(files).map(([name, body]) => writeFile(join(rootDir, name), body)));
  const config = {
    rootDir,
    testMatch: ["**/*.test.{js,ts}"],
    testEnvironment: repositoryPath("packages/testing/dist/jest/environment.js"),
    runtime: repositoryPath("packages/testing/dist/jest/runtime.js"),
    transform: {},
  };
  const jest = await spawnChild({
    name: "jest",
    command: process.execPath,
    args: [repositoryPath("node_modules/jest/bin/jest.js"), "--runInBand", `--config=${JSON.stringify(config)}`],
    env: childEnvironment(),
    cwd: rootDir,
  });
  const { code } = await jest.exited;
  return { code, output: jest.output() };
}

/** Runs a file of tests that may start a process. */
function runJest(body: string): Promise<{ code: number | null; output: string }> {
  const source = repositoryPath("packages/testing/src");
  return runFiles({
    "some.test.js": `import { startProcess } from ${JSON.stringify(`${source}/index.ts`)};
     import { holdResource, openForRun } from ${JSON.stringify(`${source}/held-resources.ts`)};
     const start = () => startProcess({ file: ${JSON.stringify(join(folder, "sleeper.js"))}, env: {}, name: "sleeper" });
     ${body}`,
  });
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

test("what is opened for the whole run is not ended with a file", async () => {
  const { code, output } = await runJest(`
    const open = () => Promise.resolve().then(() => holdResource("shared server", () => console.log("ended", "it")));
    test("opens", () => openForRun(open));`);
  expect(output).not.toMatch(/left something running|ended it/);
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

test("a file finds the process as it was before other files", async () => {
  const body = `import { expect, jest, test } from "@jest/globals";
    test("nothing is changed", async () => {
      expect(process.env.TEST_LEFT).toBeUndefined();
      expect(process.cwd()).not.toBe("/");
      expect(Date.now()).toBeGreaterThan(0);
      await expect(fetch("http://127.0.0.1:1/")).rejects.toThrow("fetch failed");
    });
    test("everything is changed", () => {
      process.env.TEST_LEFT = "here";
      process.chdir("/");
      jest.useFakeTimers({ now: 0 });
      jest.spyOn(globalThis, "fetch").mockImplementation(() => "nothing");
    });`;
  const { code, output } = await runFiles({ "one.test.js": body, "other.test.js": body });
  expect(output).toMatch(/Tests: +4 passed/);
  expect(code).toBe(0);
});

test("a failed test is shown with its place in the TypeScript file", async () => {
  const body = `import { expect, test } from "@jest/globals";
interface Answer { text: string }

const answer: Answer = { text: "no" };
test("fails", () => expect(answer.text).toBe("yes"));`;
  const { code, output } = await runFiles({ "typed.test.ts": body });
  expect(output).toMatch(/> 5 \| test\("fails"[^]*typed\.test\.ts:5:41/);
  expect(code).toBe(1);
});
