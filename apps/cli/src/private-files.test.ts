import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { handOutSecret, writeNewFile } from "./private-files.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-private-files-"));
});

afterAll(() => rm(folder, { recursive: true }));

async function* pieces(error?: Error) {
  yield "one ";
  yield await Promise.resolve("two");
  if (error !== undefined) throw error;
}

test("writes a text to a file that only its owner can read", async () => {
  const file = join(folder, "whole.txt");
  await writeNewFile(file, pieces());
  expect(await readFile(file, "utf8")).toBe("one two");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("leaves no file if the text fails, and its name can be used again", async () => {
  const before = await readdir(folder);
  const file = join(folder, "broken.txt");
  await expect(writeNewFile(file, pieces(new Error("the store broke off")))).rejects.toThrow("the store broke off");
  expect(await readdir(folder)).toEqual(before);
  await writeNewFile(file, pieces());
  expect(await readFile(file, "utf8")).toBe("one two");
});

test("does not change an existing file", async () => {
  const file = join(folder, "there.txt");
  await writeFile(file, "mine");
  const before = await readdir(folder);
  await expect(writeNewFile(file, pieces())).rejects.toMatchObject({ code: "EEXIST" });
  expect([await readFile(file, "utf8"), await readdir(folder)]).toEqual(["mine", before]);
});

test.each([
  { what: "on a terminal", isInteractive: true, isJson: false },
  { what: "in the document that a program asked for", isInteractive: false, isJson: true },
])("a secret is shown $what", async (terminal) => {
  const file = join(folder, "key");
  expect(await handOutSecret(terminal, "the secret", file)).toEqual({ shown: "the secret", isInFile: false });
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("writes a secret to a file that only its owner can read if output may be a log", async () => {
  const file = join(folder, "new", "key");
  const handedOut = await handOutSecret({ isInteractive: false, isJson: false }, "the secret", file);
  expect(handedOut).toEqual({ shown: file, isInFile: true });
  expect(await readFile(file, "utf8")).toBe("the secret\n");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("returns an error with advice and without the secret if the file cannot be written", async () => {
  await writeFile(join(folder, "taken"), "");
  const handingOut = handOutSecret({ isInteractive: false, isJson: false }, "the secret", join(folder, "taken", "key"));
  await expect(handingOut).rejects.toMatchObject({
    code: "no_place_for_secret",
    message: expect.stringMatching(/^(?!.*the secret,).*SVC_DATA_DIR.*SVC_ADMIN_KEY.*--json/s),
  });
});
