import { chmod, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort } from "@svc/testing";
import type { ChildProcess } from "@svc/testing";
import { readDocPage } from "./support/read-doc-page.ts";
import { PATH, SVC_MAIN, run } from "./support/run-svc.ts";
import { makeFolder, freePorts, removeFolders, svcUp } from "./support/svc-instance.ts";

const page = readDocPage("docs/tutorial.md");

let folder: string;
let product: ChildProcess;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await makeFolder();
  const instance = { SVC_DATA_DIR: join(folder, ".svc"), ...(await freePorts()) };
  product = await svcUp({ env: instance, url: "" });
  // `npm run -s svc -- …` of the page, without npm.
  const npm = join(folder, "npm");
  await writeFile(npm, `#!/bin/sh\nshift 4\nexec "${process.execPath}" "${SVC_MAIN}" "$@"\n`);
  await chmod(npm, 0o755);
  env = { ...instance, PATH: [folder, PATH].join(delimiter) };
});

afterAll(async () => {
  await product?.kill("SIGINT");
  await removeFolders();
});

/** A shell script of all commands of the page, in their order, on the ports of this test. */
function scriptOf(receiverPort: number): string {
  const commands = page.blocks.flatMap(({ language, text }) => {
    if (language === "js") return [`cat > receiver.mjs <<'END_OF_FILE'\n${text}\nEND_OF_FILE`];
    // The web page's server and `npm start` run until they are stopped.
    const isCommand = language === "sh" && text !== "npm start" && !text.startsWith("node -e");
    return isCommand ? [text] : [];
  });
  const ticket = `$(npm run -s svc -- tickets list --needs-review --json | node -pe 'JSON.parse(require("fs").readFileSync(0)).items[0].id')`;
  const until = `until [ "$(wc -l < received.log)" -ge 2 ]; do sleep 0.1; done`;
  return ["set -eu", ...commands, until, "kill $receiver", "cat received.log"]
    .join("\n")
    .replaceAll("<ticket>", ticket)
    .replace("node receiver.mjs &", "node receiver.mjs > received.log & receiver=$!")
    .replaceAll("127.0.0.1:31416", `127.0.0.1:${env["SVC_API_PORT"]}`)
    .replaceAll("8787", String(receiverPort));
}

test("every command of the tutorial succeeds, and prints what the page shows", async () => {
  await writeFile(join(folder, "tutorial.sh"), scriptOf(await freePort()));
  const { stdout, stderr, code } = await run("sh", ["tutorial.sh"], { env, cwd: folder });
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  /** Columns and measured numbers vary between runs. */
  const simplify = (text: string) => text.replaceAll(/\d+/g, "0").replaceAll(/ +/g, " ");
  const printed = simplify(`${stdout}\n${stderr}`);
  const shown = page.blocks
    .filter(({ language }) => language === "")
    .flatMap(({ text }) => text.split("\n"))
    .map((line) => simplify(line).replace(/…$/, "").trim());
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter((line) => !printed.includes(line))).toEqual([]);
});
