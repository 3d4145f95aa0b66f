import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort, startProcess } from "./child-process.ts";
import { waitFor } from "./wait-for.ts";

const SERVER = `
import { createServer } from "node:http";
if (process.env.IGNORE_SIGTERM) process.on("SIGTERM", () => console.log("ignored"));
createServer((request, response) => response.end(JSON.stringify(Object.keys(process.env)))).listen(
  Number(process.env.PORT), "127.0.0.1", () => console.log("listening"));
`;

let folder: string;
let server: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-test-process-"));
  server = join(folder, "server.mjs");
  await writeFile(server, SERVER);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("a process is ready when its output or its address says so, and is gone after kill", async () => {
  const port = String(await freePort());
  const child = await startProcess({ file: server, env: { PORT: port }, name: "server" });
  await child.ready(/listening/);
  await child.ready(`http://127.0.0.1:${port}/`);
  expect(await child.kill()).toEqual({ code: null, signal: "SIGTERM" });
  expect(child.isRunning()).toBe(false);
  expect(await child.exited).toEqual({ code: null, signal: "SIGTERM" });
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("a process gets the environment that it is given and nothing of the test's own", async () => {
  process.env["SVC_TEST_LEAKS"] = "yes";
  const port = String(await freePort());
  const child = await startProcess({ file: server, env: { PORT: port }, name: "server" });
  try {
    await child.ready(/listening/);
    const names = (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as string[];
    expect(names).toContain("PORT");
    expect(names).not.toContain("SVC_TEST_LEAKS");
  } finally {
    delete process.env["SVC_TEST_LEAKS"];
    await child.kill("SIGKILL");
  }
});

test("two workers of a run never receive the same port", async () => {
  const portsOf = async (worker: string) => {
    process.env["JEST_WORKER_ID"] = worker;
    const ports: number[] = [];
    for (let count = 0; count < 50; count++) ports.push(await freePort());
    return ports;
  };
  const [one, two] = [await portsOf("1"), await portsOf("2")];
  expect(Math.max(...one)).toBeLessThan(Math.min(...two));
  expect(new Set(one).size).toBe(50);
});

test("a process that ends before it is ready fails with its output", async () => {
  const file = join(folder, "fails.mjs");
  await writeFile(file, "console.error('no such setting'); process.exit(3);");
  const child = await startProcess({ file, env: {}, name: "broken" });
  await expect(child.ready(/never/)).rejects.toThrow(/broken ended before it was ready[^]*no such setting/);
  expect(await child.exited).toEqual({ code: 3, signal: null });
});

test("a child does not outlive its parent, even when the parent is killed with SIGKILL", async () => {
  const parent = join(folder, "parent.mjs");
  const entry = new URL("../dist/index.js", import.meta.url).href;
  await writeFile(
    parent,
    `import { startProcess } from ${JSON.stringify(entry)};
     const child = await startProcess({
       file: ${JSON.stringify(server)}, env: { PORT: process.env.PORT, IGNORE_SIGTERM: "yes" }, name: "child" });
     await child.ready(/listening/);
     console.log("child " + child.pid);`,
  );
  const port = String(await freePort());
  const child = await startProcess({ file: parent, env: { PORT: port }, name: "parent" });
  await child.ready(/child \d+/);
  const grandchild = Number(/child (\d+)/.exec(child.output())?.[1]);
  expect(isAlive(grandchild)).toBe(true);
  await child.kill("SIGKILL");
  await waitFor(() => !isAlive(grandchild), { what: "the child of a killed parent to end" });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH, the only fault that signal 0 to a process of this user has: there is none.
    return false;
  }
}
