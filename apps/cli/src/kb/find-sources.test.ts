import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { documentKeyOf, findSources, isWebAddress, pageKeyOf, walkFolder } from "./find-sources.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  const files = [
    "docs/b.md",
    "docs/a.PDF",
    "docs/deep/er/c.html",
    "docs/photo.png",
    "docs/deep/photo.PNG",
    "docs/Makefile",
    "docs/.hidden.md",
    "docs/.git/config.txt",
    "docs/node_modules/x/readme.md",
    "elsewhere/linked.txt",
    "single.rst",
  ];
  for (const file of files) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), "text");
  }
  await mkdir(join(folder, "empty"));
  await symlink(join(folder, "docs"), join(folder, "docs", "deep", "circle"));
  await symlink(join(folder, "elsewhere"), join(folder, "docs", "link"));
  await symlink(join(folder, "single.rst"), join(folder, "docs", "secret.md"));
  await symlink(join(folder, "docs", "b.md"), join(folder, "docs", "also-b.md"));
  await symlink(join(folder, "docs", "deep"), join(folder, "docs", "before-deep"));
  await symlink(join(folder, "nothing"), join(folder, "docs", "broken.md"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the contents of a folder", () => {
  test("are all readable files in it and below, by name and under their own path; link cycles end", async () => {
    const { files, skipped, unread } = await walkFolder(join(folder, "docs"));
    expect(files).toEqual(["a.PDF", "also-b.md", "b.md", "deep/er/c.html"].map((file) => join(folder, "docs", file)));
    expect(Object.fromEntries(skipped)).toEqual({ ".png": 2, "": 1 });
    expect(unread).toEqual([{ path: join(folder, "docs", "broken.md"), error: "no such file" }]);
  });

  test("exclude files and folders that a link points to outside of it; such links are listed", async () => {
    const { linksOut } = await walkFolder(join(folder, "docs"));
    expect(linksOut).toEqual(["link", "secret.md"].map((link) => join(folder, "docs", link)));
    expect(await walkFolder(join(folder, "docs", "link"))).toMatchObject({
      files: [join(folder, "docs", "link", "linked.txt")],
      linksOut: [],
    });
  });

  test("are empty for an empty folder", async () => {
    expect(await walkFolder(join(folder, "empty"))).toMatchObject({ files: [], unread: [] });
  });

  const testAsUser = process.getuid?.() === 0 ? test.skip : test;
  testAsUser("names a folder in it that this user may not read, and goes on", async () => {
    const outer = await mkdtemp(join(folder, "outer-"));
    await mkdir(join(outer, "closed"));
    await writeFile(join(outer, "open.md"), "text");
    await chmod(join(outer, "closed"), 0);
    const { files, unread } = await walkFolder(outer);
    await chmod(join(outer, "closed"), 0o700);
    expect(files).toEqual([join(outer, "open.md")]);
    expect(unread).toEqual([{ path: join(outer, "closed"), error: "permission denied" }]);
  });

  const testPipes = process.platform === "win32" ? test.skip : test;
  testPipes("is no pipe, which could never end", async () => {
    const outer = await mkdtemp(join(folder, "pipes-"));
    execFileSync("mkfifo", [join(outer, "pipe.md")]);
    expect((await walkFolder(outer)).files).toEqual([]);
  });
});

describe("arguments of the command line", () => {
  test("name files, folders and pages, each once; a named file may have any extension", async () => {
    const words = ["single.rst", "docs", "./docs/b.md", "https://example.com/a#part", "HTTPS://example.com/a"];
    const { sources, failed, skipped, linksOut } = await findSources(folder, words);
    expect(sources.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      "file single.rst",
      "file docs/a.PDF",
      "file docs/also-b.md",
      "file docs/b.md",
      "file docs/deep/er/c.html",
      "page https://example.com/a",
    ]);
    expect(failed).toEqual([{ file: "docs/broken.md", error: "no such file" }]);
    expect(skipped).toEqual({ ".png": 2, "": 1 });
    expect(linksOut).toEqual(["docs/link", "docs/secret.md"]);
  });

  test("that do not exist are separate failures", async () => {
    const { sources, failed } = await findSources(folder, ["gone.md", "single.rst/x.md", "http://", "single.rst"]);
    expect(sources).toHaveLength(1);
    expect(failed).toEqual([
      { file: "gone.md", error: "no such file" },
      { file: "single.rst/x.md", error: "no such file" },
      { file: "http://", error: "is not a valid URL; check it for typos" },
    ]);
  });
});

describe("the key of a document", () => {
  test("is the same for every spelling of its file's path", () => {
    expect(documentKeyOf("/docs", "./a/../guide.md")).toBe("guide.md");
    expect(documentKeyOf("/docs", "/docs/guide.md")).toBe("guide.md");
    expect(documentKeyOf("/docs/a", "../guide.md")).toBe("/docs/guide.md");
    expect(documentKeyOf("/docs", "..guide.md")).toBe("..guide.md");
    expect(documentKeyOf("/docs", ".")).toBe("");
  });

  test("is the URL of its page without a fragment", () => {
    expect(pageKeyOf("HTTPS://Example.com:443/a b?c#d")).toBe("https://example.com/a%20b?c");
    expect(pageKeyOf("https://")).toBeNull();
    expect(isWebAddress("Http://x")).toBe(true);
    expect(isWebAddress("http.md")).toBe(false);
  });
});
