import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SETTINGS, removeSavedPorts, savePorts } from "@svc/runtime";
import { repositoryPath } from "@svc/testing";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";

type Environment = Record<string, string>;
const { START_PORTS, findStartProblem } = (await import(repositoryPath("scripts/check-start.mjs"))) as {
  START_PORTS: Record<string, number | null>;
  findStartProblem(env: Environment): Promise<string | null>;
};
const { findHolder, takeLock } = (await import(repositoryPath("scripts/process-lock.mjs"))) as {
  findHolder(file: string): { pid: number } | null;
  takeLock(file: string, onWait: (holder: { pid: number }) => void): Promise<() => void>;
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-start-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Takes the lock in another process, which leaves it behind when it is killed. */
async function holdLockElsewhere(file: string) {
  const code = `const { takeLock } = await import(${JSON.stringify(repositoryPath("scripts/process-lock.mjs"))});
    await takeLock(${JSON.stringify(file)}, () => {}); console.log("held"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

describe("the lock of a checkout", () => {
  const fileOf = () => join(folder, "preparing.lock");

  test("makes a second process wait until the first releases it", async () => {
    const release = await takeLock(fileOf(), () => undefined);
    expect(findHolder(fileOf())).toMatchObject({ pid: process.pid });
    let hasSecond = false;
    let noteWait: (pid: number) => void = () => undefined;
    const waited = new Promise<number>((resolve) => {
      noteWait = resolve;
    });
    const second = takeLock(fileOf(), ({ pid }) => noteWait(pid)).then((end) => {
      hasSecond = true;
      return end;
    });
    expect(await waited).toBe(process.pid);
    expect(hasSecond).toBe(false);
    release();
    (await second)();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of a killed process has no effect", async () => {
    const child = await holdLockElsewhere(fileOf());
    expect(findHolder(fileOf())).toMatchObject({ pid: child.pid });
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    const release = await takeLock(fileOf(), () => {
      throw new Error("It waited for a process that has ended.");
    });
    release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(["", "garbage", '{"pid":1,"startMark":"another boot:1"}'])(
    "with the content %j is not a lock",
    async (text) => {
      writeFileSync(fileOf(), text);
      (await takeLock(fileOf(), () => undefined))();
    },
  );
});

describe("checks of npm start before it builds", () => {
  let env: Environment;

  beforeEach(() => {
    env = {
      SVC_DATA_DIR: join(folder, "data"),
      ...Object.fromEntries(Object.keys(START_PORTS).map((name) => [name, "0"])),
    };
  });

  test("uses the ports and defaults of the settings", () => {
    const defaults = Object.keys(START_PORTS).map((name) => {
      const { schema } = SETTINGS[name as keyof typeof SETTINGS];
      return [name, schema.parse(undefined) ?? null];
    });
    expect(Object.fromEntries(defaults)).toEqual(START_PORTS);
    const ports = Object.keys(SETTINGS).filter((name) => /^SVC_[A-Z]+_PORT$/.test(name));
    expect(Object.keys(START_PORTS).toSorted()).toEqual(ports.toSorted());
  });

  test("a data folder used by another process is reported before its ports", async () => {
    const data = join(folder, "data");
    mkdirSync(data);
    const release = await takeLock(join(data, "instance.lock"), () => undefined);
    expect(await findStartProblem(env)).toMatch(
      new RegExp(
        `^The data folder \\S+ is in use by process ${process.pid}\\. Stop that process, or set SVC_DATA_DIR to another folder\\.$`,
      ),
    );
    expect(await findStartProblem({ ...env, DATABASE_URL: "postgres://svc@db/svc" })).toBeNull();
    release();
    expect(await findStartProblem(env)).toBeNull();
  });

  test("a used port is reported in one line with its setting; the widget's counts on the first start, and later if it was enabled", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const port = String((server.address() as AddressInfo).port);
    expect(await findStartProblem({ ...env, SVC_CONSOLE_PORT: port })).toBe(
      `Port ${port} is already in use, possibly by another installation of this product. Stop that program, or choose another port with SVC_CONSOLE_PORT.`,
    );
    expect(await findStartProblem({ ...env, SVC_API_PORT: port, SVC_WIDGET_PORT: port })).toContain(
      `Ports ${port}, ${port} are already in use`,
    );
    mkdirSync(join(folder, "data", "postgres"), { recursive: true });
    writeFileSync(join(folder, "data", "postgres", "PG_VERSION"), "18\n");
    expect(await findStartProblem({ ...env, SVC_WIDGET_PORT: port })).toBeNull();
    await savePorts(join(folder, "data"), ["api", "console", "widget"]);
    expect(await findStartProblem({ ...env, SVC_WIDGET_PORT: port, SVC_TOOLS_PORT: port })).toBe(
      `Port ${port} is already in use, possibly by another installation of this product. Stop that program, or choose another port with SVC_WIDGET_PORT.`,
    );
    // The settings of a server's database may be changed elsewhere.
    const onServer = { ...env, DATABASE_URL: "postgres://svc@db/svc" };
    expect(await findStartProblem({ ...onServer, SVC_WIDGET_PORT: port })).toBeNull();
    // While the product runs, and after it was killed, only the two ports that are always used are known.
    await removeSavedPorts(join(folder, "data"));
    expect(await findStartProblem({ ...env, SVC_WIDGET_PORT: port, SVC_TOOLS_PORT: port })).toBeNull();
    expect(await findStartProblem({ ...env, SVC_API_PORT: port, SVC_CONSOLE_PORT: port })).toMatch(
      /SVC_API_PORT, SVC_CONSOLE_PORT\.$/,
    );
    await new Promise((resolve) => server.close(resolve));
  });
});

test("the image, `npm start` and the benchmark start the product with the same options of Node.js", () => {
  const optionsIn = (path: string) => readFileSync(repositoryPath(path), "utf8").match(/--max-semi-space-size=\d+/g);
  const [options] = ["infra/docker/svc.sh", "package.json", "bench/src/product.ts"].map(optionsIn);
  expect(options).toHaveLength(1);
  for (const path of ["package.json", "bench/src/product.ts"]) expect(optionsIn(path)).toEqual(options);
});

test("the bill of materials has every package of the lockfile, each with its hash", async () => {
  const { makeSbom } = (await import(repositoryPath("scripts/sbom.mjs"))) as {
    makeSbom(): { components: { purl: string; hashes: { alg: string; content: string }[] }[] };
  };
  const { components } = makeSbom();
  const lockfile = parse(readFileSync(repositoryPath("pnpm-lock.yaml"), "utf8")) as { packages: object };
  expect(components.map(({ purl }) => decodeURIComponent(purl.replace("pkg:npm/", "")))).toEqual(
    Object.keys(lockfile.packages),
  );
  for (const { hashes } of components) expect(hashes[0]?.content).toMatch(/^[0-9a-f]{64,128}$/);
});

describe("a program outside the product", () => {
  const { scripts } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const programs = Object.entries(scripts).filter(([, script]) => script.startsWith("node scripts/run.mjs "));

  test.each(programs)("prints its usage with --help: npm run %s", async (name, script) => {
    const [, ...args] = script.split(" ");
    const options = { cwd: repositoryPath(".") };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, "--help"], options);
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining(`npm run ${name} -- `), stderr: "" });
  });
});
