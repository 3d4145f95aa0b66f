import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { documentKeyOf, readDocument } from "./read-document.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  await writeFile(join(folder, "guide.MD"), "\u{feff}# Title\n");
  await writeFile(join(folder, "note.txt"), "text");
  await writeFile(join(folder, "latin1.md"), Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65]));
  await writeFile(join(folder, "table.xlsx"), "x");
  await writeFile(join(folder, "huge.md"), "");
  await truncate(join(folder, "huge.md"), 11 * 1024 * 1024);
  await mkdir(join(folder, "folder.md"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a file that becomes a document", () => {
  test("is read as what its name says, without a byte order mark", async () => {
    expect(await readDocument(folder, "guide.MD")).toEqual({
      key: "guide.MD",
      mime: "text/markdown",
      text: "# Title\n",
    });
    expect(await readDocument(folder, "note.txt")).toEqual({ key: "note.txt", mime: "text/plain", text: "text" });
  });

  test("has the same key however its path is written", () => {
    expect(documentKeyOf("/docs", "./a/../guide.md")).toBe("guide.md");
    expect(documentKeyOf("/docs", "/docs/guide.md")).toBe("guide.md");
    expect(documentKeyOf("/docs/a", "../guide.md")).toBe("/docs/guide.md");
    expect(documentKeyOf("/docs", "..guide.md")).toBe("..guide.md");
  });
});

describe("a file that cannot become a document is refused with the reason", () => {
  test.each([
    ["there is no such file", "missing.md"],
    ["it is a folder", "folder.md"],
    ["it has more than 10 MB", "huge.md"],
    ["it is not text in UTF-8", "latin1.md"],
    ["only .md, .markdown, .txt, .text can be read", "table.xlsx"],
    ["there is no such file", "note.txt/guide.md"],
  ])("%s: %s", async (reason, file) => {
    await expect(readDocument(folder, file)).rejects.toThrow(reason);
  });

  const testPipes = process.platform === "win32" ? test.skip : test;
  testPipes("it is not a regular file, which could never end", async () => {
    execFileSync("mkfifo", [join(folder, "pipe.md")]);
    await expect(readDocument(folder, "pipe.md")).rejects.toThrow("it is not a regular file");
  });
});
