import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Agent, AgentResult } from "@svc/contracts";
import { initialize } from "@svc/operations";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, repositoryPath, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { SECRET_KEY } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeFolder();
  env = { DATABASE_URL: database.url, SVC_SECRET_KEY: SECRET_KEY };
  store = openStore({ url: database.url, secretKey: env["SVC_SECRET_KEY"] ?? "", log: testLog(), app: "test" });
  // The first agent uses the product's own documentation.
  const guideDir = repositoryPath("docs/guide");
  await initialize({ store, log: testLog() }, { configuredAdminKey: undefined, guideDir, showsKey: true });
  for (const name of ["shop", "empty"]) await store.projects.ensure(name);
  await mkdir(join(folder, "birds"));
  await writeFile(join(folder, "birds", "owl.md"), "# Owl\n\nThe owl hunts by night.\n");
  await writeFile(
    join(folder, "kestrel.md"),
    "# Kestrel\n\n## How do I charge it?\n\nUse the blue cable for 95 minutes.\n",
  );
});

afterAll(async () => {
  await store.close();
  await database.drop();
  await removeFolders();
});

/** Runs a command. `typed` is its standard input. */
const svcWith = (input: { typed?: string; isTTY?: boolean }, ...words: string[]) =>
  runWithin({ env, folder, ...input }, ...words);

const svc = (...words: string[]) => svcWith({}, ...words);

async function svcJson(...words: string[]) {
  const { stdout, code } = await svc(...words, "--json");
  const document = JSON.parse(stdout) as { ok: boolean; item: Agent; items: Agent[] } & AgentResult;
  return { ...document, code };
}

/** Returns the names of the knowledge bases of an agent. */
async function kbsOf(name: string, project = "default"): Promise<string[]> {
  const { items } = await svcJson("agents", "list", "--project", project);
  const { project: found } = await store.projects.ensure(project);
  const kbs = await store.kbs.list(found.id);
  const ids = items.find((agent) => agent.name === name)?.kbIds ?? [];
  return ids.map((id) => kbs.find((kb) => kb.id === id)?.name ?? "gone").sort();
}

describe("a knowledge base filled by kb add", () => {
  test("is assigned to the first agent instead of the product's documentation", async () => {
    expect(await kbsOf("assistant")).toEqual(["guide"]);
    const { stderr, code } = await svc("kb", "add", "kestrel.md");
    expect(code).toBe(0);
    expect(stderr).toContain(
      'assistant now answers from "documents" instead of the product\'s guide. To add the guide again: ' +
        "svc agents update assistant --add-kb guide\n",
    );
    expect(await kbsOf("assistant")).toEqual(["documents"]);
    const { items } = await svcJson("agents", "list");
    expect(items).toMatchObject([{ description: "", version: 2 }]);
    expect((await svc("agents", "ask", "assistant", "How do I charge the Kestrel?")).stdout).toContain("blue cable");
    expect(await svcJson("agents", "ask", "assistant", "How do I send a message over the HTTP API?")).toMatchObject({
      code: 0,
      output: { text: null },
    });
  });

  test("is not assigned twice, and the documentation can be assigned again as shown", async () => {
    expect((await svc("kb", "add", "kestrel.md")).stderr).not.toMatch(/answers from|No agent uses/);
    expect(await svc("agents", "change", "assistant", "--add-kb", "guide")).toMatchObject({ code: 0 });
    expect(await kbsOf("assistant")).toEqual(["documents", "guide"]);
  });

  test("is not assigned if an agent has another knowledge base, or if there are several agents; the output explains how to assign it", async () => {
    const advice = (name: string, kb: string) =>
      `No agent uses the knowledge base "${kb}" yet. Assign it with: svc agents update ${name} --add-kb ${kb}\n`;
    expect((await svc("kb", "add", "kestrel.md", "--kb", "birds")).stderr).toContain(advice("assistant", "birds"));
    await svc("agents", "create", "second", "--fixed-reply", "hello");
    expect((await svc("kb", "sync", "birds", "--kb", "more")).stderr).toContain(advice("NAME", "more"));
    await svc("agents", "delete", "second", "--yes");
    expect(await kbsOf("assistant")).toEqual(["documents", "guide"]);
  });

  test("named guide no longer counts as the product's documentation, and stays assigned", async () => {
    await svc("agents", "change", "assistant", "--kb", "guide");
    await svc("kb", "add", "kestrel.md", "--kb", "guide");
    expect((await svc("kb", "add", "kestrel.md", "--kb", "birds")).stderr).toContain("Assign it with");
    expect(await kbsOf("assistant")).toEqual(["guide"]);
  });

  test("in a project without agents is reported, with how to create one", async () => {
    expect((await svc("kb", "add", "kestrel.md", "--project", "empty")).stderr).toContain(
      'No agent uses the knowledge base "documents" yet. Create an agent with: ' +
        "svc agents create NAME --kb documents --project empty\n",
    );
  });
});

describe("an agent", () => {
  const inShop = ["--project", "shop"];

  beforeAll(async () => {
    await svc("kb", "add", "kestrel.md", "--kb", "manual", ...inShop);
    await writeFile(join(folder, "examples.txt"), "\uFEFFIt does not charge\r\n\r\n  The lamp blinks  \n");
  });

  test("is created with all options, and shown", async () => {
    const about = ["--description", "Things\u001b[31m that broke.", "--kb", "manual"];
    const examples = ["--example", "It fell down", "--examples", "examples.txt"];
    const policy = ["--policy", "auto_if", "--threshold", "0.7"];
    const { stdout, code } = await svc("agents", "create", "repairs", ...about, ...examples, ...policy, ...inShop);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^name +repairs\nid +\S+\ndescription +Things that broke\.\nanswers from +manual\n/);
    expect(stdout).toMatch(
      /\npolicy +auto_if, threshold 0\.7\nmodel +default \(SVC_LLM_MODEL, if set\)\nexamples +3\n$/,
    );
    const { items } = await svcJson("agents", "list", ...inShop);
    expect(items).toMatchObject([
      {
        name: "repairs",
        examples: ["It fell down", "It does not charge", "The lamp blinks"],
        reviewPolicy: "auto_if",
        autoThreshold: 0.7,
      },
    ]);
    expect((await svc("agents", "list", ...inShop)).stdout).toMatch(
      /^NAME +STATE +EXAMPLES +POLICY +MODEL +TOOLS +ANSWERS FROM\nrepairs +enabled +3 +auto_if, threshold 0\.7 +default +manual\n$/,
    );
  });

  test("is changed only in the given options", async () => {
    const before = (await svcJson("agents", "list", ...inShop)).items[0];
    const change = (...words: string[]) => svcJson("agents", "change", "repairs", ...words, ...inShop);
    expect((await change("--add-example", "It smokes", "--remove-kb", "manual", "--disable")).item).toEqual({
      ...before,
      examples: [...(before?.examples ?? []), "It smokes"],
      kbIds: [],
      enabled: false,
      version: 2,
    });
    const piped = await svcWith(
      { typed: "one\n" },
      "agents",
      "change",
      "repairs",
      "--examples",
      "-",
      ...inShop,
      "--json",
    );
    expect(JSON.parse(piped.stdout)).toMatchObject({ item: { examples: ["one"] } });
    expect((await change("--fixed-reply", "Wait.", "--enable", "--policy", "review")).item).toMatchObject({
      fixedReply: "Wait.",
      enabled: true,
      reviewPolicy: "review",
    });
    expect((await change("--no-fixed-reply", "--kb", "manual")).item).toMatchObject({
      fixedReply: null,
      kbIds: before?.kbIds,
      examples: ["one"],
    });
  });

  test("has a model, instructions and tools, which are shown without their secrets", async () => {
    const parameters = { type: "object", properties: { orderId: { type: "string" } } };
    const url = "https://shop.example/orders/{orderId}";
    const order = { type: "http", name: "order", description: "Looks an order up.", method: "GET", url, parameters };
    const tools = [{ ...order, headers: { Authorization: "Bearer top-secret-1" } }];
    await writeFile(join(folder, "tools.json"), JSON.stringify({ tools }));
    await writeFile(join(folder, "rules.md"), "Answer in two sentences.\n");
    const given = ["--model", "none", "--instructions", "@rules.md", "--tools", "tools.json"];
    const made = await svc("agents", "create", "modern", ...given, ...inShop);
    expect(made).toMatchObject({ code: 0 });
    const shown = await svc("agents", "show", "modern", ...inShop);
    expect(shown.stdout).toMatch(/\nmodel +none\ninstructions +Answer in two sentences\.\ntools +order \(read\)\n/);
    const listed = await svc("agents", "list", ...inShop);
    expect(listed.stdout).toMatch(/modern +enabled .* none +order \(read\) +none yet\n/);
    expect(made.stdout + shown.stdout + listed.stdout).not.toContain("top-secret-1");
    const back = ["--model", "default", "--instructions", "", "--tools", "-"];
    const changed = await svcWith({ typed: "[]" }, "agents", "change", "modern", ...back, ...inShop, "--json");
    expect(JSON.parse(changed.stdout)).toMatchObject({ item: { model: null, instructions: "", tools: [] } });
    const refused = await svc("agents", "change", "modern", "--tools", "rules.md", ...inShop);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("rules.md is not a JSON list of tools") });
    await svc("agents", "delete", "modern", "--yes", ...inShop);
  });

  test("is asked directly, with sources and the expected handling of the answer", async () => {
    const { stdout, stderr, code } = await svc("agents", "ask", "repairs", "How do I charge the Kestrel?", ...inShop);
    expect(code).toBe(0);
    expect(stdout).toMatch(/blue cable for 95 minutes\.\n\nSources\n {2}1\. Kestrel/);
    expect(stdout).toContain("In a chat, an operator would review it first.");
    expect(stderr).toBe(
      "The service of this installation is not running; answered with the settings of this environment, without a language model.\n",
    );
    const nothing = await svc("agents", "ask", "repairs", "Who painted the Mona Lisa?", ...inShop);
    expect(nothing).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No answer\.\n/) });
  });

  test("is deleted after a confirmation", async () => {
    const remove = (typed: string) =>
      svcWith({ typed, isTTY: true }, "agents", "delete", "repairs", "--project", "shop");
    expect((await remove("no\n")).stdout).toBe("Nothing was deleted.\n");
    expect((await svc("agents", "delete", "repairs", ...inShop)).code).toBe(2);
    expect((await remove("yes\n")).stdout).toBe('Deleted the agent "repairs".\n');
    expect((await svc("agents", "list", ...inShop)).stdout).toContain("There are no agents. Create one with:");
  });

  test.each<[string, number, string[], string]>([
    ["an unknown agent", 1, ["change", "nobody", "--disable"], 'No agent is named "nobody". Agents: assistant.'],
    [
      "an unknown knowledge base",
      1,
      ["create", "a", "--kb", "none"],
      'No knowledge base is named "none". Knowledge bases:',
    ],
    ["a name that is taken", 1, ["create", "assistant"], "is already used by another agent: assistant"],
    ["nothing to change", 2, ["change", "assistant"], "Specify what to update"],
    ["a bad threshold", 2, ["create", "a", "--threshold", "2"], "Must be a number from 0 to 1."],
    ["a missing file", 1, ["create", "a", "--examples", "none.txt"], "Cannot read none.txt: no such file."],
  ])("is rejected with %s, with an explanation", async (_what, code, words, message) => {
    const answer = await svc("agents", ...words);
    expect(answer).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
  });
});
