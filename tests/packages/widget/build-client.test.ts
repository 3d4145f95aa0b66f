import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";

const BUILD = fileURLToPath(new URL("../../../apps/widget/build-client.mjs", import.meta.url));
const SIZE = fileURLToPath(new URL("../../../scripts/size.mjs", import.meta.url));

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function newFolder() {
  const folder = await mkdtemp(join(tmpdir(), "svc-client-"));
  folders.push(folder);
  return folder;
}

/** Runs a script; returns its exit code and output. */
function run(script: string, ...options: string[]) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [script, ...options], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

describe("the widget's bundle", () => {
  test("is within 10,000 bytes at first load and 30,000 bytes in total, gzipped, in English", async () => {
    const folder = await newFolder();
    expect(await run(BUILD, "--folder", folder)).toMatchObject({ code: 0, stderr: "" });
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Record<string, string>;
    const zipped = async (name: string) => gzipSync(await readFile(join(folder, name)), { level: 9 }).length;
    const launcher = (await zipped("widget.js")) + (await zipped(manifest["en"] ?? ""));
    expect(launcher).toBeLessThanOrEqual(10_000);
    expect(launcher + (await zipped(manifest["panel"] ?? ""))).toBeLessThanOrEqual(30_000);
  });

  test("has the files in its manifest, with content hashes in their names that the launcher knows, and no others", async () => {
    const folder = await newFolder();
    await run(BUILD, "--folder", folder);
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Record<string, string>;
    const launcher = await readFile(join(folder, "widget.js"), "utf8");
    const names = Object.entries(manifest);
    expect(names.length).toBe(21);
    for (const [name, path] of names) {
      const [, hash = "none"] = /^chunks\/[a-z]+-([0-9a-f]{8})\.js$/.exec(path) ?? [];
      expect(path).toBe(`chunks/${name}-${hash}.js`);
      expect(launcher).toContain(hash);
      expect((await stat(join(folder, path))).size).toBeGreaterThan(0);
    }
    expect((await readdir(join(folder, "chunks"))).sort()).toEqual(names.map(([, path]) => path.slice(7)).sort());
  });

  test("fails its build above the budget, and reports by how much", async () => {
    const { code, stderr } = await run(BUILD, "--folder", await newFolder(), "--budget", "20000");
    expect(code).toBe(1);
    const [, bytes, above] = /has (\d+) bytes gzipped, (\d+) above its budget of 20000/.exec(stderr) ?? [];
    expect(Number(bytes) - Number(above)).toBe(20_000);
  });

  test("is compared with the sizes of other widgets, and is also within its budget there", async () => {
    const within = await run(SIZE);
    expect(within).toMatchObject({ code: 0, stderr: "" });
    for (const row of ["launcher", "language en", "conversation", "over HTTP", "all together, English", "deep-chat"])
      expect(within.stdout).toMatch(new RegExp(`^\\| ${row} +\\| +[\\d,]+ \\|`, "m"));
    expect(await run(SIZE, "--budget", "20000")).toMatchObject({ code: 1 });
  });
});
