// `npm run conformance`: the official conformance suite of the Model Context Protocol against the tool server, with the
// requirements of the revisions 2025-11-25 and 2026-07-28, and with those of its last release.
//   npm run conformance -- [--only 2025-11-25,2026-07-28,release] [--verbose]
// The server is the product's own with some tools more, which the suite calls by name; the suite comes through npx in
// fixed versions, with the Node.js that it needs. What the server does not offer stands in eval/src/conformance/*.yml, each
// with its reason: everything else has to pass, and what stands there has to fail.

import { spawn } from "node:child_process";
import { createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { issueKey } from "@svc/auth";
import { createLog } from "@svc/log";
import { initialize } from "@svc/operations";
import { closeResources, loadConfig, migrateAll, openResources } from "@svc/runtime";
import { repositoryPath, startPostgres } from "@svc/testing";
import { loadTools, toolServerService } from "@svc/tool-server";
import type { Tool } from "@svc/tool-server";

// The tool server on a scratch PostgreSQL, with the tools of the product and those that the suite calls.

// Tools that the conformance suite calls by name: what it sees of the protocol is the same server code as the product's.

type Result = Awaited<ReturnType<Tool["call"]>>;
type Content = Result["content"];
type FixtureCall = (args: unknown, signal: AbortSignal) => Result | Promise<Result>;
/** Fields of a definition that differ from the defaults. */
type Extra = Partial<Tool["definition"]> & { waitingFor?: string };

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
const embedded = (uri: string, mimeType: string, words: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: words },
});

/** Creates a tool from its result and the fields of its definition that differ from the defaults. */
const tool = (name: string, call: FixtureCall, { waitingFor, ...definition }: Extra = {}): Tool => ({
  scope: "kb:read",
  definition: { name, description: `For tests: ${name}.`, inputSchema: { type: "object" }, ...definition },
  ...(waitingFor === undefined ? {} : { waitingFor }),
  call: async (_deps, _principal, args, signal) => call(args, signal),
});

const answers = (name: string, ...content: Content) => tool(name, () => ({ content }));

const FIXTURE_TOOLS = [
  answers("test_simple_text", text("This is a simple text response for testing.")),
  answers("test_image_content", image),
  answers("test_audio_content", { type: "audio" as const, data: SILENCE, mimeType: "audio/wav" }),
  answers(
    "test_embedded_resource",
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ),
  answers(
    "test_multiple_content_types",
    text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ),
  tool("test_error_handling", () => ({
    content: [text("This tool intentionally returns an error for testing")],
    isError: true,
  })),
  tool(
    "test_tool_with_progress",
    async (_args, signal) => {
      // Long enough for the product to send three progress notifications.
      await setTimeout(2_500, undefined, { signal });
      return { content: [text("Done.")] };
    },
    { waitingFor: "The test goes on" },
  ),
  tool("json_schema_2020_12_tool", (args) => ({ content: [text(JSON.stringify(args))] }), {
    description: "Tool with JSON Schema 2020-12 features",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      // oxlint-disable-next-line unicorn/no-thenable -- A keyword of JSON Schema.
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
  }),
  // The library rejects requests that exceed the client's capabilities, so the client must declare them first.
  tool("test_missing_capability", () => {
    const asks = {
      resultType: "input_required",
      inputRequests: {
        sample: {
          method: "sampling/createMessage",
          params: { messages: [{ role: "user", content: text("Hello") }], maxTokens: 10 },
        },
      },
    };
    return asks as unknown as Result;
  }),
  answers("test_streaming_elicitation", text("Nothing is asked while a call goes on.")),
  answers("test_logging_tool", text("Nothing is logged to clients.")),
];

// A proxy that adds a key: the conformance suite cannot send headers of its own.

/** Listens on loopback and forwards every request, with unchanged `Host` and `Origin`, and the key. */
async function startKeyProxy(target: string, key: string) {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = ask({ hostname, port, method, path, headers: { ...headers, "x-api-key": key } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    // Forwards a disconnect of the client.
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const log = createLog({ level: "warn", name: "conformance", destination: process.stderr });

/** Starts it on a free port; `key` is an administrator's without a rate limit. */
async function startToolServer(key: string) {
  const postgres = await startPostgres();
  const ends: (() => Promise<unknown>)[] = [() => postgres.stop()];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    await migrateAll(postgres.url, log);
    const config = loadConfig({
      DATABASE_URL: postgres.url,
      SVC_SECRET_KEY: "conformance-secret-key-0123456789abcdef",
      SVC_TOOLS_PORT: "0",
    });
    const resources = await openResources(config, { app: "conformance", log });
    ends.push(() => closeResources(resources));
    const guideDir = repositoryPath("docs/guide");
    await initialize(resources, { configuredAdminKey: undefined, guideDir, showsKey: true });
    const owner = { name: "conformance", scopes: ["admin:*" as const], project: null, createdBy: "conformance" };
    await issueKey(resources.store, { ...owner, rateLimit: null, key });
    const loadAll = async () => [...(await loadTools()), ...FIXTURE_TOOLS];
    const running = await toolServerService(resources, loadAll).start();
    ends.push(() => running.stop());
    return { url: running.urls?.["Tool server"] ?? "", stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const KEY = "conformance-key-0123456789abcdef";
/** A version of the suite, its arguments, and the file with the expected failures. */
interface Suite {
  version: string;
  args: string[];
  baseline: string;
}

const NODE = "node@22.23.3";
const requirementsOf = (revision: string): Suite => ({
  version: "0.2.0-alpha.12",
  args: ["--requirements", revision],
  baseline: `baseline-${revision}.yml`,
});
const SUITES: Record<string, Suite> = {
  "2025-11-25": requirementsOf("2025-11-25"),
  "2026-07-28": requirementsOf("2026-07-28"),
  release: { version: "0.1.16", args: [], baseline: "baseline-2025-11-25.yml" },
};
const PARTS = Object.keys(SUITES);

const { values } = parseArgs({
  options: { only: { type: "string", default: PARTS.join(",") }, verbose: { type: "boolean", default: false } },
});
const wanted = values.only.split(",");
const unknown = wanted.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) throw new Error(`--only takes ${PARTS.join(", ")}; not ${unknown.join(", ")}`);

/** Runs a version of the suite with the Node.js version it requires; its output is shown only if requested. */
function runConformance(version: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const named = [NODE, `@modelcontextprotocol/conformance@${version}`].flatMap((name) => ["--package", name]);
  return new Promise((resolve, reject) => {
    const child = spawn("npx", ["--yes", ...named, "--", "conformance", "server", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
      if (values.verbose) process.stdout.write(part);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Runs one suite; returns true if all results are as expected. */
async function runSuite({ version, args, baseline }: Suite, url: string) {
  const expected = join(repositoryPath("eval/src/conformance"), baseline);
  const { code, output } = await runConformance(version, ["--url", url, "--expected-failures", expected, ...args]);
  if (!values.verbose) console.log(output.slice(Math.max(output.indexOf("=== SUMMARY ==="), 0)));
  return code === 0;
}

const server = await startToolServer(KEY);
const proxy = await startKeyProxy(server.url, KEY);
try {
  const failures: string[] = [];
  for (const [name, suite] of Object.entries(SUITES).filter(([part]) => wanted.includes(part))) {
    console.log(`Conformance suite ${suite.version}, ${name}`);
    if (!(await runSuite(suite, `${proxy.url}/mcp`))) failures.push(`the suite, ${name}`);
  }
  console.log(failures.length === 0 ? "All as expected." : `Not as expected: ${failures.join(", ")}.`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  await proxy.stop();
  await server.stop();
}
