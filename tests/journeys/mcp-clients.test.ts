import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Project } from "@svc/store";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { findInspector } from "./support/find-inspector.ts";
import { openClient, openInspector, openOlderClient } from "./support/mcp-clients.ts";
import type { McpClient, SeenResult } from "./support/mcp-clients.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const NAMES = [
  "svc_search_kb",
  "svc_list_kbs",
  "svc_list_agents",
  "svc_execute_agent",
  "svc_get_ticket",
  "svc_list_tickets",
  "svc_summarize_notes",
  "svc_submit_issue",
];
const QUESTION = "What is a dead letter?";
const NOTES = "Um, the the printer on floor two is, uh, broken and nobody can print. It needs a new toner today.";

/** Installed from the network with its own Node.js, which takes a minute: only in a soak test. */
const inspector = process.env["SVC_SOAK"] === "1" ? await findInspector() : null;

let product: Product;
let home: Project;
let key: string;

beforeAll(async () => {
  product = await startProduct({ apps: ["tool-server"] });
  ({ project: home } = await product.store.projects.ensure("default"));
  await addProject(product.store, "printers", {
    description: "Printers, toner, paper jams and print queues in the offices.",
    examples: ["the printer has a paper jam", "toner is empty", "nothing comes out when I print"],
  });
  const { key: issued } = await issueKey(product.store, {
    name: "notes",
    scopes: ["kb:read", "agents:read", "agents:execute", "tickets:read", "messages:write"],
    project: home.id,
    rateLimit: null,
    createdBy: "test",
  });
  key = issued;
});

afterAll(() => product?.stop());

const urlsOf = () => product.composition.toolsUrls;

/** The clients, and the revision that each must negotiate. */
const CLIENTS: [name: string, revision: string | null, open: (() => Promise<McpClient>) | null][] = [
  ["@modelcontextprotocol/client", "2026-07-28", () => openClient(urlsOf(), key)],
  ["@modelcontextprotocol/sdk", "2025-11-25", () => openOlderClient(urlsOf(), key)],
  [
    "the command line of the Inspector (needs SVC_SOAK=1, npx and a network)",
    null,
    inspector === null ? null : () => Promise.resolve(openInspector(inspector, urlsOf(), key)),
  ],
];

/** Returns the structured result of a call, after checking that its text is the same. */
function dataOf({ isError, content, structuredContent }: SeenResult): Record<string, unknown> {
  expect({ isError: isError ?? false, content }).toEqual({
    isError: false,
    content: [{ type: "text", text: expect.any(String) }],
  });
  expect(JSON.parse(content[0]?.text ?? "")).toEqual(structuredContent);
  return structuredContent ?? {};
}

for (const [name, revision, open] of CLIENTS) {
  (open === null ? describe.skip : describe)(`${name} against the running product`, () => {
    let client: McpClient;
    const call = async (tool: string, args?: Record<string, unknown>) => dataOf(await client.call(tool, args));
    const itemsOf = (data: Record<string, unknown>) => data["items"] as { id: string; name: string }[];

    beforeAll(async () => {
      if (open !== null) client = await open();
    });
    afterAll(() => client?.close());

    test("negotiates the right revision, and lists the eight tools", async () => {
      expect(client.revision).toBe(revision);
      const tools = await client.list();
      expect(tools.map((tool) => tool.name)).toEqual(NAMES);
      expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
    });

    test("searches the knowledge bases that it has listed", async () => {
      const kbs = itemsOf(await call("svc_list_kbs"));
      expect(kbs).toEqual([expect.objectContaining({ name: "guide" })]);
      const { hits } = await call("svc_search_kb", { query: QUESTION, kbIds: kbs.map(({ id }) => id), limit: 2 });
      expect(hits).toContainEqual(expect.objectContaining({ text: expect.stringContaining("dead letter") }));
    });

    test("asks the agent that it has listed", async () => {
      const agents = itemsOf(await call("svc_list_agents"));
      expect(agents).toEqual([expect.objectContaining({ name: "assistant" })]);
      const answer = await call("svc_execute_agent", { agentId: agents[0]?.id, input: QUESTION });
      expect(answer).toMatchObject({
        output: { text: expect.stringMatching(/dead letter/i) },
        confidence: expect.any(Number),
      });
    });

    test("turns notes into issues, and the chosen one into a ticket, without revealing a match in another project", async () => {
      const read = await call("svc_summarize_notes", { notes: NOTES });
      expect(read["cleanedText"]).not.toMatch(/\b(um|uh|the the)\b/i);
      const [issue] = read["issues"] as { clientIssueId: string; title: string; description: string }[];
      if (issue === undefined) throw new Error("there is no issue in the notes");
      // Each client has its own id.
      const clientIssueId = randomUUID();
      const args = { clientIssueId, title: issue.title, description: issue.description };
      const submitted = await call("svc_submit_issue", args);
      expect(submitted).toEqual({
        ticketId: expect.any(String),
        stage: "review",
        created: true,
        project: null,
        agentId: null,
        confidence: null,
        reason: null,
      });
      expect(await call("svc_submit_issue", args)).toEqual({ ...submitted, created: false });
      // It belongs to the project of the printers now: for this key it is indistinguishable from a missing one.
      const foreign = await client.call("svc_get_ticket", { ticketId: submitted["ticketId"] });
      const missing = await client.call("svc_get_ticket", { ticketId: randomUUID() });
      expect(foreign.isError).toBe(true);
      expect(foreign.content[0]?.text).toMatch(/^not_found: /);
      expect(foreign.content).toEqual(missing.content);
    });

    test("reads a ticket that it has found by search", async () => {
      const word = `zebra${randomUUID().replaceAll("-", "")}`;
      const url = `${product.composition.apiUrls[0]}/api/v1/messages`;
      const body = JSON.stringify({ text: `${QUESTION} ${word}`, mode: "sync" });
      const headers = { "Content-Type": "application/json", "X-Api-Key": product.adminKey };
      const sent = (await (await fetch(url, { method: "POST", headers, body })).json()) as { ticketId: string };
      const [found] = await waitFor(
        async () => {
          const items = itemsOf(await call("svc_list_tickets", { q: word }));
          return items.length === 1 ? items : null;
        },
        { what: "the ticket to be found" },
      );
      expect(found?.id).toBe(sent.ticketId);
      const { ticket } = await call("svc_get_ticket", { ticketId: sent.ticketId });
      expect(ticket).toMatchObject({ id: sent.ticketId, messages: [{ text: expect.stringContaining(word) }] });
    });

    test("gets an explanation for an invalid call", async () => {
      const result = await client.call("svc_search_kb", { query: " " });
      expect(result.isError).toBe(true);
      expect(result.content[0]?.text).toMatch(/^invalid_request: [^]*\n- \/query: /);
    });
  });
}
