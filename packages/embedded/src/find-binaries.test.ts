import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findBinaries, makeUsable, readLibraryLinks } from "./find-binaries.ts";
import type { PostgresBinaries } from "./find-binaries.ts";
import { runTool } from "./run-tool.ts";

const NOBODY = { uid: 65_534, gid: 65_534 };
const testAsRoot = process.getuid?.() === 0 ? test : test.skip;
const quiet = () => undefined;

let folder: string;
let secluded: PostgresBinaries;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-binaries-"));
  await chmod(folder, 0o755);
  const installed = await findBinaries();
  const nativeDir = join(folder, "home", "native");
  await cp(installed.nativeDir, nativeDir, { recursive: true, verbatimSymlinks: true });
  const moved = (program: string) => join(nativeDir, relative(installed.nativeDir, program));
  secluded = {
    ...installed,
    nativeDir,
    postgres: moved(installed.postgres),
    initdb: moved(installed.initdb),
    pgCtl: moved(installed.pgCtl),
  };
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function newParent(name: string): Promise<string> {
  const parent = join(folder, name);
  await mkdir(parent, { mode: 0o755 });
  return parent;
}

describe("makeUsable", () => {
  test("links the libraries and sets the rights that the package's install script would have set", async () => {
    await chmod(join(folder, "home"), 0o755);
    for (const { target } of await readLibraryLinks(secluded.nativeDir)) {
      await rm(join(secluded.nativeDir, "..", target), { force: true });
    }
    await chmod(secluded.initdb, 0o644);
    expect(await makeUsable(secluded, null, quiet)).toEqual(secluded);
    expect(await runTool(secluded.initdb, ["--version"], { cwd: "/", account: null })).toMatchObject({ code: 0 });
  });

  testAsRoot("leaves programs where they are when their user can reach them", async () => {
    await chmod(join(folder, "home"), 0o755);
    expect(await makeUsable(secluded, NOBODY, quiet, [])).toEqual(secluded);
  });

  testAsRoot("copies them once out of a folder that their user cannot enter, under any umask", async () => {
    await chmod(join(folder, "home"), 0o700);
    const parent = await newParent("cache");
    const progress: string[] = [];
    const umask = process.umask(0o077);
    const copy = await makeUsable(secluded, NOBODY, (text) => progress.push(text), [parent]);
    process.umask(umask);
    expect(await runTool(copy.initdb, ["--version"], { cwd: "/", account: NOBODY })).toMatchObject({ code: 0 });
    expect(await makeUsable(secluded, NOBODY, (text) => progress.push(text), [parent])).toEqual(copy);
    expect(progress).toHaveLength(1);
    expect(await readdir(parent)).toHaveLength(1);

    await truncate(copy.postgres, 10);
    expect(await makeUsable(secluded, NOBODY, quiet, [parent])).toEqual(copy);
    expect((await stat(copy.postgres)).size).toBe((await stat(secluded.postgres)).size);
  });

  testAsRoot("does not run what another user put in the place of a copy", async () => {
    await chmod(join(folder, "home"), 0o700);
    const first = await newParent("shared");
    const second = await newParent("fallback");
    const position = join(first, `svc-postgres-${secluded.version}`);
    await mkdir(position);
    await chown(position, NOBODY.uid, NOBODY.gid);
    const copy = await makeUsable(secluded, NOBODY, quiet, [first, second]);
    expect(copy.nativeDir.startsWith(second)).toBe(true);
    await expect(makeUsable(secluded, NOBODY, quiet, [first])).rejects.toMatchObject({ code: "binaries_unusable" });
  });
});
