import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ERRORS, SERVER_FRAMES, VISITOR_FRAMES, WIDGET_CLOSE_CODES, widgetSettingsSchema } from "@svc/contracts";
import { freePort, repositoryPath, spawnChild, waitFor } from "@svc/testing";
import { CALLS, readSettings } from "../../apps/widget/client/launch/page-settings.ts";
import { createDocComparison } from "./support/compare-with-doc.ts";
import { DOC_PROXIES, findProxyBlock } from "./support/doc-proxies.ts";
import { readDocExamples } from "./support/read-doc-examples.ts";
import { findDocFile, readDocPage, readDocTable } from "./support/read-doc-page.ts";
import { run } from "./support/run-svc.ts";
import { findProgram } from "./support/start-doc-receiver.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";

const page = readDocPage("docs/widget.md");
const examples = readDocExamples(page);

const SHOWN_WIDGET = "http://127.0.0.1:31415";
const SHOWN_VISITOR = "0c2f9a52-6a3b-4b0e-9d5e-1f6f0f1d7c11";
const WIDGET_KEY = "wk_documented-0123456789";
const IDENTITY_SECRET = "a-secret-for-the-examples-of-this-page";

let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
  // Snippets import packages that a reader would install.
  await symlink(repositoryPath("tests/node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, ".curlrc"), 'write-out = "%{stderr}\\n%{http_code}"\n');
});

afterAll(removeFolders);

describe("the examples of docs/widget.md show the actual output:", () => {
  const comparison = createDocComparison();
  let product: Product;
  let url: string;

  beforeAll(async () => {
    product = await startProduct({ apps: ["widget"] });
    [url = ""] = product.composition.widgetUrls;
    await product.store.channelsConfig.update("widget", { apiKey: WIDGET_KEY }, { enabled: true });
    await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: "the widget" });
  });

  afterAll(() => product?.stop());

  const real = (text: string) =>
    comparison
      .translate(text)
      .replaceAll(SHOWN_WIDGET, url)
      .replaceAll(SHOWN_WIDGET.replace("http", "ws"), url.replace("http", "ws"));

  test.each(examples.map((example) => [example.title, example] as const))("%s", async (_title, example) => {
    const env = { WIDGET_KEY, VISITOR: SHOWN_VISITOR, CURL_HOME: folder };
    const { stdout, stderr } = await run("sh", ["-c", real(example.command)], { env, cwd: folder });
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(String(example.status));
    if (!("json" in example.answer)) throw new Error("the page shows its answers as JSON");
    expect(comparison.compare(JSON.parse(example.answer.json), JSON.parse(stdout))).toEqual([]);
  });

  test.each(["plain-client.mjs", "socketio-client.mjs"])("%s asks and prints the answer", async (name) => {
    await writeFile(join(folder, name), real(findDocFile(page, name)));
    const { stdout, stderr, code } = await run(process.execPath, [name], { env: { WIDGET_KEY }, cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("No message that was accepted is lost.");
  });

  for (const { program, language, adapt, args } of DOC_PROXIES) {
    const command = findProgram(program);
    (command === null ? test.skip : test)(`${program} passes calls and sockets on (needs ${program})`, async () => {
      const port = await freePort();
      const file = join(folder, `${program}.conf`);
      const own = real(findProxyBlock(page, language)).replace("127.0.0.1:31415", new URL(url).host);
      await writeFile(file, adapt(own, { port, folder }));
      const env = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, PATH: process.env.PATH ?? "" };
      const proxy = await spawnChild({ name: program, command: command ?? "", args: args(file, folder), env });
      try {
        const front = `http://127.0.0.1:${port}`;
        const isUp = async () =>
          (await fetch(`${front}/api/widget/config/${WIDGET_KEY}`).catch(() => null))?.ok === true;
        await waitFor(isUp, { what: `${program} to answer` });
        const client = findDocFile(page, "plain-client.mjs").replace("127.0.0.1:31415", new URL(front).host);
        await writeFile(join(folder, "through-proxy.mjs"), client);
        const { stdout, stderr } = await run(process.execPath, ["through-proxy.mjs"], {
          env: { WIDGET_KEY },
          cwd: folder,
        });
        expect({ stdout, stderr }).toEqual({
          stdout: expect.stringContaining("No message that was accepted is lost."),
          stderr: "",
        });
      } finally {
        await proxy.kill();
      }
    });
  }
});

describe("the hash of a user id", () => {
  const [, shown] = /`a-secret-for-the-examples-of-this-page` it is\s+`([0-9a-f]{64})`/.exec(page.text) ?? [];

  const byProgram = { node: "user-hash.mjs", python3: "user_hash.py", php: "user_hash.php", ruby: "user_hash.rb" };
  for (const [program, name] of Object.entries(byProgram)) {
    const path = findProgram(program);
    (path === null ? test.skip : test)(`by ${name} is the one of the page (needs ${program})`, async () => {
      await writeFile(join(folder, name), findDocFile(page, name));
      const env = { WIDGET_IDENTITY_SECRET: IDENTITY_SECRET };
      const { stdout } = await run(path ?? "", [name], { env, cwd: folder });
      expect(stdout.trim()).toBe(shown);
    });
  }
});

describe("the tables are complete:", () => {
  const named = (title: string) => readDocTable(page, title).map(([name = ""]) => name);

  test("settings", () => {
    expect(named("Setting").sort()).toEqual(Object.keys(widgetSettingsSchema.shape).sort());
  });

  test("attributes", () => {
    const read = new Set(["svcWidget"]);
    const get = (_: object, name: string) => {
      read.add(name);
      return "x";
    };
    readSettings({ src: "https://chat.example.com/widget.js", dataset: new Proxy({}, { get }) });
    const attributes = [...read].map((name) => `data-${name.replaceAll(/[A-Z]/g, (char) => `-${char.toLowerCase()}`)}`);
    expect(named("Attribute").sort()).toEqual(["src", ...attributes].sort());
  });

  test("calls of the page API", () => {
    const calls = named("Call").flatMap((cell) => [...cell.matchAll(/(\w+)\(/g)].map(([, call]) => call));
    expect(calls.sort()).toEqual([...CALLS].sort());
  });

  /** Returns the data of each name; null if the page refers to the data of another name. */
  const dataOf = (title: string) =>
    Object.fromEntries(
      readDocTable(page, title).map(([type = "", data = ""]) => [
        type,
        data.startsWith("as ") ? null : data.split(", ").toSorted(),
      ]),
    );
  const namesOf = ({ shape }: { shape: object }) => Object.keys(shape).toSorted();

  test("frames of the service, with their data", () => {
    const frames = Object.entries(SERVER_FRAMES).map(([type, schema]) => [type, namesOf(schema)]);
    expect(dataOf("From the service")).toEqual(Object.fromEntries(frames));
  });

  test("frames of the client, with their data", () => {
    const { hello, typing, read, rate } = VISITOR_FRAMES;
    expect(dataOf("From the client")).toEqual({
      hello: namesOf(hello),
      message: null,
      typing: namesOf(typing),
      read: namesOf(read),
      rate: namesOf(rate),
    });
  });

  test("error codes, with the status of each", () => {
    const rows = readDocTable(page, "Code").flatMap(([codes = "", status = ""]) =>
      codes.split(", ").map((code) => [code, Number(status)]),
    );
    const real = rows.map(([code]) => [code, ERRORS[code as keyof typeof ERRORS]?.status]);
    expect(rows).toEqual(real);
    expect(rows.length).toBeGreaterThan(8);
  });

  test("close codes", () => {
    const codes = named("Close").map(Number);
    expect(codes).toEqual(expect.arrayContaining(Object.values(WIDGET_CLOSE_CODES)));
  });
});

test("the frames that the page shows are valid in this version", () => {
  const block = page.blocks.find(({ text }) => text.startsWith('> {"type":"hello"'));
  const lines = block?.text.split("\n") ?? [];
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines) {
    const { type, data } = JSON.parse(line.slice(2)) as {
      type: keyof typeof SERVER_FRAMES & keyof typeof VISITOR_FRAMES;
      data: unknown;
    };
    const schema = (line.startsWith("> ") ? VISITOR_FRAMES : SERVER_FRAMES)[type];
    expect(schema.safeParse(data)).toMatchObject({ success: true });
  }
});
