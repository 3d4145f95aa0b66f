import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { SCOPE_RESOURCES } from "@svc/contracts";
import { repositoryPath, waitFor } from "@svc/testing";
import { loadTools } from "@svc/tool-server";
import { createDocComparison } from "./support/compare-with-doc.ts";
import { readDocExamples } from "./support/read-doc-examples.ts";
import { readDocPage, readDocTable } from "./support/read-doc-page.ts";
import { run } from "./support/run-svc.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { svcWithin } from "./support/svc-within.ts";

const page = readDocPage("docs/tools.md");
const SHOWN_SERVER = "http://127.0.0.1:31417";

/** Calls of the page, each with the response that follows it: `tools call <name> ['<arguments>'] [--json]`. */
const CALL = /^npm run --silent svc -- tools call (\w+)(?:[ \\\n]+'([^']*)')?( --json)?$/;
const calls = page.blocks.flatMap(({ language, text, line }, index) => {
  const [, name, input, json] = (language === "sh" ? CALL.exec(text) : null) ?? [];
  const answer = page.blocks[index + 1];
  if (name === undefined || answer?.language !== "json") return [];
  return [{ title: `${page.path}:${line} ${name}`, name, input, isJson: json !== undefined, shown: answer.text }];
});

/** Fields that vary: those of the product's own guide, and durations of stages. */
const comparison = createDocComparison(["documents", "chunks", "openTicket", "triageAllProjects"]);

let product: Product;
let url: string;
let env: Record<string, string>;

beforeAll(async () => {
  product = await startProduct({ apps: ["tool-server"] });
  [url = ""] = product.composition.toolsUrls;
  env = { SVC_ADMIN_KEY: product.adminKey, SVC_TOOLS_PORT: new URL(url).port };
});

afterAll(async () => {
  await product?.stop();
  await removeFolders();
});

describe("the examples of docs/tools.md show the actual output:", () => {
  test("it shows a call of every tool, and one that fails", async () => {
    const names = (await loadTools()).map(({ definition }) => definition.name);
    expect([...new Set(calls.map(({ name }) => name))].toSorted()).toEqual(names.toSorted());
    expect(calls).toHaveLength(names.length + 1);
  });

  test.each(calls.map((call) => [call.title, call] as const))("%s", async (_title, { name, input, isJson, shown }) => {
    const words = ["tools", "call", name, ...(input === undefined ? [] : [comparison.translate(input)])];
    let differences: string[] = [];
    const isAsShown = async () => {
      const { stdout, stderr } = await svcWithin(env, "", ...words, ...(isJson ? ["--json"] : []));
      if (stdout === "") throw new Error(stderr);
      differences = comparison.compare(JSON.parse(shown), JSON.parse(stdout));
      return differences.length === 0;
    };
    // Lists show new items slightly later, so they are polled; calls that create something are made once.
    if (name === "svc_list_tickets") await waitFor(isAsShown, { what: () => differences.join("\n") });
    else await isAsShown();
    expect(differences).toEqual([]);
  });

  test.each(readDocExamples(page).map((example) => [example.title, example] as const))(
    "%s",
    async (_title, example) => {
      const folder = await makeFolder();
      await writeFile(join(folder, ".curlrc"), 'write-out = "%{stderr}\\n%{http_code}"\n');
      const command = example.command.replaceAll(SHOWN_SERVER, url);
      const { stdout, stderr } = await run("sh", ["-c", command], {
        env: { SVC_KEY: product.adminKey, CURL_HOME: folder },
        cwd: folder,
      });
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(String(example.status));
      if (!("json" in example.answer)) throw new Error("the page shows its answers as JSON");
      expect(comparison.compare(JSON.parse(example.answer.json), JSON.parse(stdout))).toEqual([]);
    },
  );
});

describe("the tables are correct:", () => {
  test("each tool has its scope, and is listed for a key with only this scope", async () => {
    const tools = await loadTools();
    const rows = readDocTable(page, "Tool").map(([name, scope]) => [name, scope]);
    expect(rows).toEqual(tools.map(({ definition, scope }) => [definition.name, scope]));
    const { project } = await product.store.projects.ensure("default");
    for (const { definition, scope } of tools) {
      expect(SCOPE_RESOURCES.some((resource) => scope.startsWith(`${resource}:`))).toBe(true);
      const owner = { name: "docs", scopes: [scope], project: project.id, createdBy: "test" };
      const { key } = await issueKey(product.store, owner);
      const { stdout } = await svcWithin({ ...env, SVC_ADMIN_KEY: key }, "", "tools", "list");
      expect(stdout).toContain(definition.name);
    }
  });

  test("each client of the table has its section, and its configuration is JSON that names the server and the header", () => {
    const clients = readDocTable(page, "Client").map(([name = ""]) => name);
    expect(clients.length).toBeGreaterThan(6);
    const titles = [...page.text.matchAll(/^### (.+)$/gm)].map(([, title = ""]) => title);
    expect(clients.filter((name) => !titles.some((title) => name.startsWith(title)))).toEqual([]);
    const configurations = page.blocks.filter(({ text }) => text.includes("X-Api-Key") && text.startsWith("{"));
    expect(configurations).toHaveLength(5);
    for (const { text } of configurations) {
      expect(() => JSON.parse(text) as unknown).not.toThrow();
      expect(text).toContain(`${SHOWN_SERVER}/mcp`);
    }
  });
});

test("links lead to existing pages and sections", () => {
  const anchors = [...page.text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  const links = [...page.text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  expect(links.length).toBeGreaterThan(10);
  const broken = links.filter((target) => {
    if (target.startsWith("https:")) return false;
    return target.startsWith("#") ? !anchors.includes(target.slice(1)) : !existsSync(repositoryPath(`docs/${target}`));
  });
  expect(broken).toEqual([]);
});
