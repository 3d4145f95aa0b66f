import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { NotesSummaryItem, Scope, SubmittedIssue, TicketDetail, TicketItem } from "@svc/contracts";
import type { Project } from "@svc/store";
import { callApi } from "./support/call-api.ts";
import { addProject } from "./support/add-project.ts";
import { openClient, openOlderClient } from "./support/mcp-clients.ts";
import type { McpClient } from "./support/mcp-clients.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

/** The agents answer everything without review: no answer may be sent for an issue. */
const AGENTS = {
  billing: {
    description: "Invoices, refunds, charges on credit cards, receipts, subscriptions and prices.",
    examples: ["I was charged twice this month", "please refund my invoice", "the receipt shows the wrong price"],
  },
  printers: {
    description: "Printers, toner, paper jams, scanners and print queues in the offices.",
    examples: ["the printer has a paper jam", "toner is empty on the third floor", "nothing comes out when I print"],
  },
  doors: {
    description: "Doors, locks, badges, keys and access to the buildings.",
    examples: ["my badge does not open the door", "the lock at the entrance is broken", "I lost my key"],
  },
} as const;
type Name = keyof typeof AGENTS;

const NOTES = `# Monday round

um so the the printer on the second floor has a paper jam again nothing comes out when people print
- one customer was charged twice this month, no wait, last month, he wants a refund of the invoice
- my badge does not open the door at the entrance, Tom please fix that by Thursday
- the tap in the kitchen drips \u{1F6B0}
lunch was great`;

let product: Product;
let projects: Record<Name, Project>;
const clients: McpClient[] = [];

beforeAll(async () => {
  product = await startProduct({ apps: ["tool-server"] });
  const make = (name: Name) =>
    addProject(
      product.store,
      name,
      { ...AGENTS[name], examples: [...AGENTS[name].examples], fixedReply: "Automatic." },
      { handoffText: "A person will look at it." },
    );
  projects = { billing: await make("billing"), printers: await make("printers"), doors: await make("doors") };
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await product?.stop();
});

/** Opens a client with a key of the project, alternating between replicas. */
async function open(name: Name, scopes: Scope[], openOne = openClient): Promise<McpClient> {
  const { key } = await issueKey(product.store, { name, scopes, project: projects[name].id, createdBy: "test" });
  const client = await openOne(product.composition.toolsUrls, key);
  clients.push(client);
  return client;
}

async function ask<Answer>(client: McpClient, tool: string, args: Record<string, unknown>): Promise<Answer> {
  const { isError, content, structuredContent } = await client.call(tool, args);
  if (isError === true || structuredContent === undefined) throw new Error(content[0]?.text ?? "no content");
  return structuredContent as Answer;
}

async function readTicket(name: string, ticketId: string): Promise<TicketDetail> {
  const url = `${product.composition.apiUrls[0]}/api/v1/admin/tickets/${ticketId}`;
  const { body } = await callApi(url, { key: product.adminKey, project: name });
  return (body as unknown as { item: TicketDetail }).item;
}

const NOTE_SCOPES: Scope[] = ["agents:execute", "messages:write"];

describe("dictated notes", () => {
  test.each([
    ["the client of today", openClient],
    ["the client of 2025", openOlderClient],
  ])("%s: notes become issues, and the chosen ones wait for operators in the right projects", async (_who, openOne) => {
    const client = await open("billing", NOTE_SCOPES, openOne);
    const read = await ask<NotesSummaryItem>(client, "svc_summarize_notes", {
      notes: NOTES,
      date: "2026-11-24",
    });
    expect(read.cleanedText).toContain("- One customer was charged twice last month, he wants a refund of the invoice");
    expect(read.cleanedText).not.toMatch(/\bum\b|the the|no wait/);
    const quoted = read.issues.map(({ quotes }) => quotes.map(({ start, end }) => NOTES.slice(start, end))[0]);
    expect(quoted).toEqual([
      expect.stringContaining("the the printer"),
      expect.stringContaining("one customer was charged"),
      "my badge does not open the door at the entrance, Tom please fix that by Thursday",
      "the tap in the kitchen drips \u{1F6B0}",
    ]);

    expect(read.issues[2]).toMatchObject({ person: "Tom", dueDate: "2026-11-26" });

    // The operator chooses three of the four.
    const chosen = read.issues.slice(0, 3).map((issue) => ({ ...issue, source: "Monday round" }));
    const sent = await Promise.all(chosen.map((issue) => ask<SubmittedIssue>(client, "svc_submit_issue", issue)));
    expect(sent.map(({ stage }) => stage)).toEqual(["review", "review", "review"]);
    // The caller learns nothing about other projects.
    expect(sent.map(({ project, reason }) => [project, reason === null])).toEqual([
      [null, true],
      ["billing", false],
      [null, true],
    ]);
    for (const [index, name] of ["printers", "billing", "doors"].entries()) {
      const ticket = await readTicket(name, sent[index]?.ticketId ?? "");
      expect(ticket).toMatchObject({
        homeProject: "billing",
        project: name,
        status: "open",
        stage: "review",
        assignee: null,
        subject: chosen[index]?.title,
        priority: chosen[index]?.severity,
        channel_meta: {
          origin: "tool-server",
          source: "Monday round",
          ...(name === "doors" ? { person: "Tom", dueDate: "2026-11-26" } : {}),
        },
        replies: [],
        draft: null,
      });
      expect(ticket.messages).toHaveLength(1);
    }
  });

  test("an issue submitted again from other replicas and clients concurrently is one ticket", async () => {
    const issue = {
      clientIssueId: "note-again",
      title: "Paper jam",
      description: "The printer has a paper jam again.",
    };
    const both = [await open("printers", NOTE_SCOPES), await open("printers", NOTE_SCOPES, openOlderClient)];
    const sent = await Promise.all(
      [...both, ...both, ...both].map((client) => ask<SubmittedIssue>(client, "svc_submit_issue", issue)),
    );
    expect(new Set(sent.map(({ ticketId }) => ticketId)).size).toBe(1);
    expect(sent.filter(({ created }) => created)).toHaveLength(1);
    expect(sent.map(({ project, stage }) => [project, stage])).toEqual(sent.map(() => ["printers", "review"]));
  });

  test("operators find it in the shared Inbox of their project, also through the tools", async () => {
    const reader = await open("doors", ["tickets:read", "messages:write"]);
    const issue = { clientIssueId: "inbox", title: "Lock", description: "The lock at the entrance is broken." };
    const { ticketId } = await ask<SubmittedIssue>(reader, "svc_submit_issue", issue);
    const { items } = await ask<{ items: TicketItem[] }>(reader, "svc_list_tickets", { stage: "review" });
    expect(items.map(({ id }) => id)).toContain(ticketId);
    const { ticket } = await ask<{ ticket: TicketDetail }>(reader, "svc_get_ticket", { ticketId });
    expect(ticket).toMatchObject({ project: "doors", stage: "review", replies: [] });
    const url = `${product.composition.apiUrls[0]}/api/v1/admin/tickets?origin=tool-server`;
    const { body } = await callApi(url, { key: product.adminKey, project: "doors" });
    expect((body as unknown as { items: TicketItem[] }).items.map(({ id }) => id)).toContain(ticketId);
    const elsewhere = await open("billing", ["tickets:read"]);
    await expect(ask(elsewhere, "svc_get_ticket", { ticketId })).rejects.toThrow(/not_found|no ticket with this ID/i);
  });

  test("a key without a scope does not see the tool, and cannot call it", async () => {
    const client = await open("billing", ["agents:execute"]);
    expect((await client.list()).map(({ name }) => name)).not.toContain("svc_submit_issue");
    const issue = { clientIssueId: "x", title: "x", description: "x" };
    await expect(client.call("svc_submit_issue", issue)).rejects.toThrow(/messages:write/);
  });
});
