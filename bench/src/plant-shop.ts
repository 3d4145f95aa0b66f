// A small made-up shop: knowledge, agents, operators, and conversations of some weeks.
import { queryDatabase, waitFor } from "@svc/testing";
import type { EmbeddedProduct } from "@svc/testing";
import { addOperator } from "./product.ts";
import { pause } from "./processes.ts";
import SHOP from "./shop.json" with { type: "json" };

const PROJECT = "kestrel";
const DAY_MS = 86_400_000;
/** The administrator. */
const EMAIL = "ann@kestrel.example";

/** A conversation: author, age in hours, channel, and outcome. */
interface Conversation {
  name: string;
  text: string;
  hours: number;
  channelId: string;
  /** The decision about its draft. */
  draft?: string;
  isBad?: boolean;
  note?: string;
  reply?: string;
  assign?: string;
  tags?: string[];
  priority?: string;
  resolve?: boolean;
  spam?: boolean;
}
const CONVERSATIONS: readonly Conversation[] = SHOP.conversations;

/** What is read of an entity of the API. */
interface Item {
  id: string;
  stage: string;
  status: string;
  priority: string;
  version: number;
  draft?: { text?: string };
}

/** Frequent questions of the previous weeks, and their authors. */
const VISITORS = ["Alva", "Bruno", "Clara", "Dario", "Elin", "Farid", "Gina", "Hugo"];
const OLDEST_DAY = 29;
const EARLIER: Conversation[] = Array.from({ length: OLDEST_DAY - 4 }, (_, index) => OLDEST_DAY - index).flatMap(
  (day) =>
    // More on some days than on others.
    Array.from({ length: 1 + ((day * 7) % 4) }, (_, index) => {
      const number = day * 3 + index;
      const hours = day * 24 - index * 3;
      const channelId = ["widget", "api", "widget", "messenger"][number % 4] ?? "api";
      return {
        name: `${VISITORS[number % VISITORS.length]} ${day}`,
        text: SHOP.often[number % SHOP.often.length] ?? "",
        hours,
        channelId,
        // What operators do with a draft, and now and then a bad rating.
        draft: ["approve", "approve", "edit", "approve", "reject"][number % 5] ?? "approve",
        isBad: number % 11 === 4,
        resolve: true,
      };
    }),
);

/** Customers who say nothing of themselves. */
const NAMELESS = ["Hanna Berg", "Best SEO Offers"];

/** Who somebody is, as each channel says it. */
function identityOf(name: string, channelId: string) {
  if (NAMELESS.includes(name)) return { meta: {} };
  const email = `${name.toLowerCase().replaceAll(" ", ".")}@example.org`;
  if (channelId === "widget") return { meta: { contact: { name, email } } };
  if (channelId === "messenger") return { meta: { telegram: { chatType: "private", from: { name } } } };
  return { userId: email, meta: { name, email } };
}

/** Submits an issue as an MCP client does. */
async function submitTask(product: EmbeddedProduct, task: (typeof SHOP.tasks)[number]) {
  const answer = await fetch(`${product.toolsUrl}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${product.adminKey}`,
      "x-svc-project": PROJECT,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "svc_submit_issue", arguments: { clientIssueId: task.title, ...task } },
    }),
  });
  const text = await answer.text();
  if (!answer.ok || !text.includes("ticketId")) throw new Error(`svc_submit_issue: ${answer.status} ${text}`);
}

/** Moves the events of a ticket back in time by this many hours. */
async function moveBack({ databaseUrl }: EmbeddedProduct, ticketId: string, hours: number) {
  const columns = {
    tickets: { key: "id", times: ["created_at", "updated_at", "first_reply_at", "resolved_at"] },
    messages: { key: "ticket_id", times: ["created_at", "finished_at"] },
    replies: { key: "ticket_id", times: ["created_at", "delivered_at"] },
    ticket_events: { key: "ticket_id", times: ["at"] },
    drafts: { key: "ticket_id", times: ["created_at"] },
    visitors: { key: "ticket_id", times: ["rated_at"] },
  };
  for (const [table, { key, times }] of Object.entries(columns)) {
    const sets = times.map((column) => `${column} = ${column} - make_interval(secs => $2)`).join(", ");
    await queryDatabase(databaseUrl, `UPDATE ${table} SET ${sets} WHERE ${key} = $1`, [ticketId, hours * 3_600]);
  }
}

/** Calls the API for the project of the shop. */
const callOf = (product: EmbeddedProduct) => {
  const call = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    product.call(method, path, { project: PROJECT, json, headers });
  return {
    call,
    item: async (method: string, path: string, json?: unknown) =>
      ((await call(method, path, json)) as { item: Item }).item,
    items: async (path: string) => ((await call("GET", path)) as { items: Item[] }).items,
  };
};
type Api = ReturnType<typeof callOf>;

/** Waits until a check is true, at most a minute. */
const until = (what: string, check: () => Promise<boolean>) => waitFor(check, { what, timeoutMs: 60_000 });

/** Adds three operators. Returns their ids by their names, and the id of the project. */
async function addPeople(product: EmbeddedProduct) {
  const store = product.openStore();
  try {
    await product.call("POST", "/projects", { json: { name: PROJECT } });
    const project = await store.projects.findByName(PROJECT);
    if (project === null) throw new Error("the project of the shop is missing");
    const { id } = project;
    const ann = await addOperator(store, { name: "Ann Able", email: EMAIL });
    const ben = await addOperator(store, {
      name: "Ben Bright",
      email: "ben@kestrel.example",
      roles: [{ project: id, role: "operator" }],
    });
    await addOperator(store, {
      name: "Cleo Clay",
      email: "cleo@kestrel.example",
      roles: [{ project: id, role: "viewer" }],
    });
    return { project: id, ids: { ann: ann?.id, ben: ben?.id } as Record<string, string> };
  } finally {
    await store.close();
  }
}

/** Adds the knowledge bases and agents. Returns their ids. */
async function addKnowledge({ call, item, items }: Api) {
  const kb = await item("POST", "/admin/kb", { name: "Shop handbook" });
  const team = await item("POST", "/admin/kb", { name: "Team notes" });
  for (const [title, text] of Object.entries(SHOP.documents))
    await call("POST", `/admin/kb/${kb.id}/documents`, { title, text, mime: "text/markdown" });
  await call("POST", `/admin/kb/${team.id}/documents`, {
    title: "How we write",
    text: "# How we write\n\nFriendly, short, with figures.",
  });
  await until("the documents", async () =>
    (await items(`/admin/kb/${kb.id}/documents`)).every(({ status }) => status === "ready"),
  );
  const agents: Item[] = [];
  for (const agent of SHOP.agents) agents.push(await item("POST", "/admin/agents", { ...agent, kbIds: [kb.id] }));
  await pause(1_500);
  return { kbId: kb.id, agentId: agents[0]?.id ?? "" };
}

/** Sends the message of a conversation and does with its ticket what operators did. Returns the ticket's id. */
async function addConversation(
  product: EmbeddedProduct,
  conversation: Conversation,
  { project, ids }: Awaited<ReturnType<typeof addPeople>>,
): Promise<string> {
  const { name, text, hours, channelId, draft, note, reply, assign, tags, priority, spam } = conversation;
  const { call, item } = callOf(product);
  const chatId = `${channelId}-${name.toLowerCase().replaceAll(" ", "-")}`;
  const { meta, ...identity } = identityOf(name, channelId);
  const order = `K-${2_000 + Math.round(hours * 7)}`;
  const { ticketId } = (await call("POST", "/messages", {
    text,
    ...identity,
    chatId,
    mode: "async",
    meta: { ...meta, page: "https://kestrel.example/help", order },
  })) as { ticketId: string };
  const path = `/admin/tickets/${ticketId}`;
  const read = () => item("GET", path);
  const decide = async (action: string, json: unknown) =>
    call("POST", `${path}/${action}`, json, { "if-match": `"${(await read()).version}"` });
  await until(`the answer to ${name}`, async () => ["done", "review"].includes((await read()).stage));
  if (draft !== undefined && (await read()).draft?.text) {
    await decide(draft, draft === "edit" ? { text: "It takes three to six days." } : {});
    await until(`the reply to ${name}`, async () => (await read()).stage === "done");
  }
  if (conversation.isBad === true) {
    await queryDatabase(
      product.databaseUrl,
      `INSERT INTO ticket_events (ticket_id, project_id, actor, data, answer_step)
       VALUES ($1, $2, 'visitor', '{"decision":"rate","score":2}', 'badRating')`,
      [ticketId, project],
    );
  }
  if (conversation.isBad !== undefined) {
    await queryDatabase(
      product.databaseUrl,
      "INSERT INTO visitors (ticket_id, project_id, score, comment, rated_at) VALUES ($1, $2, $3, $4, now())",
      [ticketId, project, conversation.isBad ? 2 : 5, conversation.isBad ? "I had to ask twice." : null],
    );
  }
  if (note !== undefined) await call("POST", `${path}/note`, { text: note });
  if (reply !== undefined) await call("POST", `${path}/reply`, { text: reply });
  if (assign !== undefined) await call("POST", `${path}/assign`, { assignee: `operator:${ids[assign]}` });
  if (tags !== undefined || priority !== undefined) await call("PATCH", path, { tags, priority });
  if (conversation.resolve === true || spam === true) {
    await until(`${name} to be at rest`, async () => {
      await decide("resolve", { status: spam === true ? "spam" : "resolved" });
      return true;
    });
  }
  await queryDatabase(product.databaseUrl, "UPDATE tickets SET channel_id = $2 WHERE id = $1", [ticketId, channelId]);
  await moveBack(product, ticketId, hours);
  return ticketId;
}

/** Lists are updated by background work; this corrects the backdated entries. */
async function followLists({ databaseUrl }: EmbeddedProduct) {
  await until("the lists to follow", async () => {
    const [row] = await queryDatabase<{ is_done: boolean }>(
      databaseUrl,
      "SELECT settled_id = (SELECT max(id) FROM ticket_events) AS is_done FROM ticket_index",
    );
    return row?.is_done === true;
  });
  await queryDatabase(
    databaseUrl,
    `UPDATE ticket_list l SET channel_id = t.channel_id,
       created_us = (extract(epoch FROM t.created_at) * 1000000)::bigint,
       updated_us = (extract(epoch FROM t.updated_at) * 1000000)::bigint,
       urgency = l.urgency - l.updated_us / 1000 + (extract(epoch FROM t.updated_at) * 1000)::bigint
     FROM tickets t WHERE t.id = l.ticket_id`,
  );
}

/** A filled shop: its project, a ticket in review, a task, a base, an agent, and the email of its administrator. */
export type Shop = Awaited<ReturnType<typeof plantShop>>;

/** Fills a product that runs. */
export async function plantShop(product: EmbeddedProduct) {
  const { databaseUrl } = product;
  const api = callOf(product);
  const people = await addPeople(product);
  await queryDatabase(databaseUrl, "UPDATE api_keys SET rate_limit = 0");
  const { kbId, agentId } = await addKnowledge(api);
  // From the oldest to the newest, so that the list has them in their order.
  let shown = "";
  for (const conversation of [...EARLIER, ...CONVERSATIONS.toReversed()]) {
    const ticketId = await addConversation(product, conversation, people);
    if (conversation.name === "Jonas Weber") shown = ticketId;
  }
  for (const task of SHOP.tasks) await submitTask(product, task);
  const tasks = await api.items("/admin/tickets?origin=tool-server");
  const taskId = tasks.find(({ priority }) => priority === "high")?.id ?? "";
  await followLists(product);

  // What an operator has changed in a draft, as a proposal for the knowledge.
  await queryDatabase(
    databaseUrl,
    `INSERT INTO proposals (id, project_id, kb_id, ticket_id, action, title, question, before, after, created_by, created_at)
     VALUES (gen_random_uuid(), $1, $2, $3, 'add', 'Returning used batteries', 'Can I return a battery that I have used once?',
       'Propellers and batteries must be unused.',
       'A battery that was charged once can be returned within 30 days, unless it was in a drone that crashed.', $4, $5)`,
    [people.project, kbId, shown, `operator:${people.ids["ben"]}`, new Date(Date.now() - DAY_MS)],
  );
  for (const name of ["Web shop", "Nightly export"]) {
    const json = { name, scopes: ["messages:write", "messages:read"], project: PROJECT };
    await product.call("POST", "/admin/keys", { json });
  }
  const style = { title: "Kestrel Drones", color: "#0f766e" };
  const config = { project: PROJECT, ...style, allowedOrigins: ["https://kestrel.example"] };
  await product.call("PUT", "/admin/channels/widget", { json: { enabled: true, config } });
  await api.call("POST", "/messages", {
    text: "How much is express shipping?",
    chatId: "callback",
    userId: "Nightly import",
    webhookUrl: "http://127.0.0.1:9/callback",
  });
  return { project: PROJECT, ticketId: shown, taskId, kbId, agentId, email: EMAIL };
}
