import { markOfTool } from "@svc/agents";
import { issueKey } from "@svc/auth";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { callApi } from "./call-api.ts";
import type { Product } from "./start-product.ts";

/** Path parameters by name, and ids of related objects. */
export type TargetIds = Record<string, string>;

interface Target {
  /** True for objects that belong to no project, so that an administrator finds them whichever project is chosen. */
  isGlobal?: true;
  make(product: Product, project: Project): Promise<TargetIds>;
}

/** Creates an object through the API, in a project, and returns its id. */
async function post(product: Product, project: Project, path: string, json: unknown): Promise<string> {
  const [url] = product.composition.apiUrls;
  const answer = await callApi(`${url}/api/v1${path}`, { key: product.adminKey, project: project.name, json });
  const { item } = answer.body as unknown as { item?: { id?: string } };
  if (item?.id === undefined) throw new Error(`${path} made nothing: ${answer.status} ${answer.text}`);
  return item.id;
}

const kb = (product: Product, project: Project) => post(product, project, "/admin/kb", { name: `kb ${newId()}` });

const hook = (product: Product, project: Project) =>
  post(product, project, "/admin/hooks", { name: `hook ${newId()}`, preset: "form" });

/** Sends a message whose answer the project's agent holds for review, and waits for the review. */
async function ticketInReview(product: Product, project: Project): Promise<{ id: string }> {
  const [url] = product.composition.apiUrls;
  const request = { key: product.adminKey, project: project.name };
  const answer = await callApi(`${url}/api/v1/messages`, {
    ...request,
    json: { text: "Where is the parcel with the zyxgrubl?", mode: "async" },
  });
  const { ticketId = "" } = answer.body;
  await waitFor(
    async () => {
      const [row] = await queryDatabase<{ stage: string }>(
        product.databaseUrl,
        "SELECT stage FROM tickets WHERE id = $1",
        [ticketId],
      );
      return row?.stage === "review";
    },
    { what: "a ticket to be in review" },
  );
  return { id: ticketId };
}

/** Does the same, and then makes a decision. */
async function ticketAfter(product: Product, project: Project, action: string): Promise<{ id: string }> {
  const ids = await ticketInReview(product, project);
  await post(product, project, `/admin/tickets/${ids.id}/${action}`, {});
  return ids;
}

/** Creates a customer like the first message of a new user does, but without the delay of some seconds. */
async function customer({ databaseUrl }: Product, project: Project): Promise<string> {
  const id = newId();
  await queryDatabase(
    databaseUrl,
    `WITH customer AS (
       INSERT INTO customers (id, project_id, alias, first_seen_at, last_seen_at) VALUES ($1, $2, 'Amber Owl', now(), now())
     )
     INSERT INTO customer_identities (project_id, kind, value, customer_id) VALUES ($2, 'user', $1::text, $1)`,
    [id, project.id],
  );
  return id;
}

/** A model of the Ollama server in these tests. */
export const TARGET_MODEL = { name: "tiny:1b", sizeBytes: 1_000, contextWindow: 4_096 };

/** How to create the objects that path parameters refer to. */
export const TARGETS = {
  agent: {
    make: async (product, project) => ({
      id: await post(product, project, "/admin/agents", { name: `agent ${newId()}`, enabled: false, fixedReply: "x" }),
    }),
  },
  channel: { isGlobal: true, make: () => Promise.resolve({ id: "api" }) },
  pushingChannel: { isGlobal: true, make: () => Promise.resolve({ id: "messenger" }) },
  delivery: {
    async make({ databaseUrl }, project) {
      const id = newId();
      const ticketId = newId();
      const messageId = newId();
      await queryDatabase(
        databaseUrl,
        `WITH chat AS (
           INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq) VALUES ($3, $2, 'api', $5, 1)
         ), message AS (
           INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, mode, state, due_at)
           VALUES ($4, $2, $3, 1, 'hi', 0, '{}', 'webhook', 'answered', now())
         ), callback AS (
           INSERT INTO callbacks (message_id, project_id, ticket_id, url, delivery_id)
           VALUES ($4, $2, $3, 'http://192.0.2.1/', $1)
         )
         INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, state, due_at)
         VALUES ($1, $2, $3, $4, 'message.completed', 'http://192.0.2.1/', '{}', 'dead', now())`,
        [id, project.id, ticketId, messageId, `chat-${ticketId}`],
      );
      return { id };
    },
  },
  document: {
    async make(product, project) {
      const id = await kb(product, project);
      const documentId = await post(product, project, `/admin/kb/${id}/documents`, { text: "Some words.", key: "a" });
      return { id, docId: documentId };
    },
  },
  /** A passage of a document that is ready. */
  passage: {
    async make(product, project) {
      const kbId = await kb(product, project);
      const documentId = await post(product, project, `/admin/kb/${kbId}/documents`, { text: "We ship.", key: "a" });
      const find = () =>
        queryDatabase<{ id: string }>(product.databaseUrl, "SELECT id FROM chunks WHERE document_id = $1", [
          documentId,
        ]);
      const id = await waitFor(async () => (await find())[0]?.id ?? null, { what: "the document to be read" });
      return { id };
    },
  },
  ticketFile: {
    async make(product, project) {
      const { id } = await ticketInReview(product, project);
      const file = { ticketId: id, filename: "a.txt", mime: "text/plain", content: Buffer.from("hi") };
      return { id, fileId: (await product.store.widgetFiles.insert(project.id, file)) ?? "" };
    },
  },
  import: {
    async make(product, project) {
      const id = await kb(product, project);
      const importId = newId();
      await queryDatabase(
        product.databaseUrl,
        "INSERT INTO imports (id, project_id, kb_id, url, max_pages) VALUES ($1, $2, $3, 'https://example.com/', 1)",
        [importId, project.id, id],
      );
      return { id, importId };
    },
  },
  kb: { make: async (product, project) => ({ id: await kb(product, project) }) },
  key: {
    isGlobal: true,
    async make({ store }, project) {
      const target = { name: "target", scopes: ["kb:read" as const], project: project.id, createdBy: "test" };
      return { id: (await issueKey(store, target)).record.id };
    },
  },
  project: {
    isGlobal: true,
    async make({ store }) {
      const { project } = await store.projects.ensure(`made-${newId()}`);
      return { id: project.id, name: project.name };
    },
  },
  /** A model installed in Ollama at startup, which the product needs. */
  model: { isGlobal: true, make: () => Promise.resolve({ catalogId: `ollama:${TARGET_MODEL.name}` }) },
  modelPull: {
    isGlobal: true,
    async make({ databaseUrl }) {
      const id = newId();
      const catalogId = `ollama:pulled:${id}`;
      await queryDatabase(
        databaseUrl,
        `INSERT INTO model_pulls (catalog_id, id, state, status, next_at, due_at)
         VALUES ($1, $2, 'running', 'queued', now() + interval '1 day', now() + interval '1 day')`,
        [catalogId, id],
      );
      return { catalogId };
    },
  },
  webhook: {
    make: async (product, project) => {
      const body = { url: "https://example.com/", events: ["ticket.created"] };
      return { id: await post(product, project, "/admin/webhooks", body) };
    },
  },
  hook: { make: async (product, project) => ({ id: await hook(product, project) }) },
  hookBody: {
    async make(product, project) {
      const id = await hook(product, project);
      const bodyId = newId();
      await queryDatabase(
        product.databaseUrl,
        `INSERT INTO hook_bodies (id, hook_id, project_id, content_type, headers, content, outcome)
         VALUES ($1, $2, $3, 'application/json', '{}', convert_to('{"message":"hi"}', 'UTF8'), 'invalid')`,
        [bodyId, id, project.id],
      );
      return { id, bodyId };
    },
  },
  gap: {
    async make(product, project) {
      const id = newId();
      await queryDatabase(
        product.databaseUrl,
        `INSERT INTO gaps (id, project_id, question, question_message_id, terms)
         VALUES ($1, $2, 'Do you ship to Iceland?', $3, '{iceland}')`,
        [id, project.id, newId()],
      );
      return { id, kbId: await kb(product, project) };
    },
  },
  article: {
    async make(product, project) {
      const text = { title: "Iceland", text: "We ship there." };
      const id = await post(product, project, "/admin/articles", { kbId: await kb(product, project), ...text });
      const mime = "image/gif";
      const imageId = await product.store.articles.insertImage(project.id, id, {
        mime,
        content: Buffer.from("GIF89a"),
      });
      if (imageId === null) throw new Error("failed to store the image of an article");
      return { id, number: "1", imageId };
    },
  },
  proposal: {
    async make(product, project) {
      const kbId = await kb(product, project);
      return {
        id: await post(product, project, "/admin/proposals", { kbId, title: "Iceland", text: "We ship there." }),
      };
    },
  },
  cannedReply: {
    async make(product, project) {
      const id = await post(product, project, "/admin/canned-replies", { name: `reply ${newId()}`, text: "Hello" });
      return { id, ticketId: (await ticketInReview(product, project)).id };
    },
  },
  tag: {
    async make(product, project) {
      const tag = () => post(product, project, "/admin/tags", { name: `tag ${newId()}` });
      return { id: await tag(), otherId: await tag() };
    },
  },
  customer: {
    make: async (product, project) => ({
      id: await customer(product, project),
      otherId: await customer(product, project),
    }),
  },
  customerNote: {
    async make(product, project) {
      const id = await customer(product, project);
      const noted = await product.store.customers.addNote(project.id, id, { author: "test", text: "Pays late." });
      return { id, noteId: noted?.notes[0]?.id ?? "" };
    },
  },
  operator: {
    isGlobal: true,
    make: async (product, project) => ({
      id: await post(product, project, "/admin/operators", { email: `${newId()}@example.com`, name: "Ann", roles: [] }),
    }),
  },
  /** A conversation with a draft that waits for an operator; the project needs an agent whose answers need review. */
  ticketInReview: { make: ticketInReview },
  assignedTicket: { make: (product, project) => ticketAfter(product, project, "takeover") },
  resolvedTicket: { make: (product, project) => ticketAfter(product, project, "resolve") },
  /** A waiting tool call; the ticket's agent has the tool. */
  toolCall: {
    async make(product, project) {
      const { id: ticketId } = await ticketInReview(product, project);
      const tool = {
        type: "http",
        name: "cancel",
        description: "Cancels an order.",
        method: "POST",
        url: "https://shop.example/cancel",
        parameters: { type: "object" },
        headers: {},
        body: "json",
        access: "write",
        approval: "operator",
      } as const;
      const made = { name: `agent ${newId()}`, fixedReply: "x", reviewPolicy: "review" } as const;
      const { id: agentId } = await product.store.agents.insert(project.id, { ...made, tools: [tool] });
      await queryDatabase(product.databaseUrl, "UPDATE tickets SET agent_id = $2 WHERE id = $1", [ticketId, agentId]);
      const id = newId();
      await queryDatabase(
        product.databaseUrl,
        `INSERT INTO tool_calls (id, project_id, ticket_id, message_id, agent_id, tool, mark, access, call_key, occurrence,
           arguments, state)
         SELECT $1, $2, $3, id, $4, 'cancel', $5, 'write', 'key', 0, '{}', 'waiting' FROM messages WHERE ticket_id = $3`,
        [id, project.id, ticketId, agentId, markOfTool(tool)],
      );
      return { id };
    },
  },
  /** A ticket whose message has failed five times. */
  failedTicket: {
    async make(product, project) {
      const ids = await ticketInReview(product, project);
      await queryDatabase(
        product.databaseUrl,
        `WITH ticket AS (UPDATE tickets SET stage = 'failed' WHERE id = $1)
         UPDATE messages SET state = 'failed', failure = 'planted' WHERE ticket_id = $1`,
        [ids.id],
      );
      return ids;
    },
  },
} as const satisfies Record<string, Target>;
export type TargetName = keyof typeof TARGETS;
