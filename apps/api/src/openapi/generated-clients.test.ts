import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { repositoryPath } from "@svc/testing";
import { makeOpenapi } from "./make-openapi.ts";

const run = promisify(execFile);
/** Installed in the workspace of the tests, since the generators do not support the TypeScript 7 of this one. */
const GENERATORS = "tests/node_modules";
const commandOf = (name: string) => repositoryPath(`${GENERATORS}/.bin/${name}`);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-generated-clients-"));
  await writeFile(join(folder, "openapi.json"), JSON.stringify(makeOpenapi("https://api.example.com")));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2023", "dom", "dom.iterable"],
    types: [],
    paths: { "openapi-fetch": [repositoryPath(`${GENERATORS}/openapi-fetch`)] },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["call.ts"] }));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the errors of tsc for a call with a generated client; empty if it compiles. */
async function compile(call: string): Promise<string> {
  await writeFile(join(folder, "call.ts"), call);
  const tsc = repositoryPath("node_modules/.bin/tsc");
  try {
    return (await run(tsc, ["-p", join(folder, "tsconfig.json")])).stdout;
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
  }
}

const generate = (command: string, args: readonly string[]) => run(commandOf(command), [...args], { cwd: folder });

test("openapi-typescript generates types with which openapi-fetch sends and collects", async () => {
  await generate("openapi-typescript", ["openapi.json", "-o", "svc.d.ts"]);
  const call = `
    import createClient from "openapi-fetch";
    import type { components, paths } from "./svc";
    const api = createClient<paths>({ baseUrl: "https://api.example.com" });
    const sent = await api.POST("/api/v1/messages", { body: { text: "Hello" } });
    if (sent.data && "replies" in sent.data) sent.data.replies satisfies components["schemas"]["ReplyItem"][];
    if (sent.error) sent.error.code satisfies string;
    const { data } = await api.GET("/api/v1/messages/{chatId}", { params: { path: { chatId: "c" }, query: { wait: 0 } } });
    data?.replies satisfies components["schemas"]["ReplyItem"][] | undefined;
    export {};`;
  expect(await compile(call)).toBe("");
  expect(await compile(`${call}\ndata?.noSuchField;`)).toContain("noSuchField");
});

test("@hey-api/openapi-ts generates functions that send and collect, with the server's URL", async () => {
  await generate("openapi-ts", ["-i", "openapi.json", "-o", "hey", "--no-log-file"]);
  const call = `
    import { client } from "./hey/client.gen";
    import { drainMessages, sendMessage } from "./hey";
    import type { ReplyItem } from "./hey";
    client.getConfig().baseUrl satisfies string | undefined;
    const sent = await sendMessage({ body: { text: "Hello" } });
    if (sent.data && "replies" in sent.data) sent.data.replies satisfies ReplyItem[];
    const { data } = await drainMessages({ path: { chatId: "c" }, query: { wait: 0 } });
    data?.replies satisfies ReplyItem[] | undefined;
    export {};`;
  expect(await compile(call)).toBe("");
});

test("orval generates functions that send and collect", async () => {
  await generate("orval", ["--input", "openapi.json", "--output", "orval.ts", "--client", "fetch"]);
  const call = `
    import { drainMessages, sendMessage } from "./orval";
    import type { ReplyItem } from "./orval";
    const sent = await sendMessage({ text: "Hello" });
    if (sent.status === 200) sent.data.replies satisfies ReplyItem[];
    const drained = await drainMessages("c", { wait: 0 });
    if (drained.status === 200) drained.data.replies satisfies ReplyItem[];
    export {};`;
  expect(await compile(call)).toBe("");
});
