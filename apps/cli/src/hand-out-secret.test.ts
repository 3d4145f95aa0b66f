import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { handOutSecret } from "./hand-out-secret.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-secret-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each([
  { what: "on a terminal", isInteractive: true, isJson: false },
  { what: "in the document that a program asked for", isInteractive: false, isJson: true },
])("a secret is shown $what", async (terminal) => {
  const file = join(folder, "key");
  expect(await handOutSecret(terminal, "the secret", file)).toEqual({ shown: "the secret", isInFile: false });
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("where output may be a log, a secret is in a file that only its owner can read", async () => {
  const file = join(folder, "new", "key");
  const handedOut = await handOutSecret({ isInteractive: false, isJson: false }, "the secret", file);
  expect(handedOut).toEqual({ shown: file, isInFile: true });
  expect(await readFile(file, "utf8")).toBe("the secret\n");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a file that cannot be written is an error with ways out, and shows no secret", async () => {
  await writeFile(join(folder, "taken"), "");
  const handingOut = handOutSecret({ isInteractive: false, isJson: false }, "the secret", join(folder, "taken", "key"));
  await expect(handingOut).rejects.toMatchObject({
    code: "no_place_for_secret",
    message: expect.stringMatching(/^(?!.*the secret,).*SVC_DATA_DIR.*SVC_ADMIN_KEY.*--json/s),
  });
});
