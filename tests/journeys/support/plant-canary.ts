import { issueKey } from "@svc/auth";
import { newId, ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { freePort, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./add-project.ts";
import { callApi } from "./call-api.ts";
import type { ApiRequest } from "./call-api.ts";
import { createReviewClient } from "./create-review-client.ts";
import type { Product } from "./start-product.ts";

/** A person whose name is in every kind of row that contains data of a conversation. */
export interface Canary {
  /** The name: letters only, so that it is found however a store encodes it, also as the stem of a word. */
  name: string;
  project: ProjectId;
  projectName: string;
  /** A key bound to the project. */
  key: string;
  userId: string;
  /** Tickets of its conversations. */
  ticketIds: string[];
}

/** Returns a unique word that no stemmer changes. */
export function canaryName(): string {
  const letters = newId().replaceAll(/[^0-9a-f]/g, "");
  return `qzcanary${Array.from(letters.slice(-14), (digit) => "bcdfghjklmnpqrtv".charAt(Number.parseInt(digit, 16))).join("")}`;
}

/**
 * Creates a project in which a person writes, gets answers of agents and operators, and has callbacks, until the
 * person's name is in every table that can contain a customer's. Rows that no call creates directly are inserted.
 */
export async function plantCanary(product: Product, projectName: string): Promise<Canary> {
  const { store, databaseUrl } = product;
  const name = canaryName();
  const { id: project } = await addProject(store, projectName, { fixedReply: `Hello from ${projectName}.` });
  const { key } = await issueKey(store, {
    name: "canary",
    scopes: ["messages:*", "tickets:*", "privacy:*"],
    project,
    createdBy: "test",
    rateLimit: null,
  });
  const [url = ""] = product.composition.apiUrls;
  const call = (path: string, request: ApiRequest) =>
    callApi(`${url}/api/v1${path}`, { key: product.adminKey, project: projectName, ...request });
  const sql = (text: string, values: unknown[]) => queryDatabase(databaseUrl, text, values);
  const userId = `user ${name}`;
  const message = (more: object) => ({ text: `I am ${name}.`, userId, meta: { deep: [{ [name]: name }] }, ...more });
  const review = createReviewClient(product, projectName);

  // A webhook for events, which no one receives.
  const webhook = { url: `http://127.0.0.1:${await freePort()}/events`, events: ["ticket.created"] };
  const subscribed = await call("/admin/webhooks", { json: webhook });
  if (subscribed.status !== 201) throw new Error(`the webhook was not created: ${subscribed.text}`);

  // A call with an Idempotency-Key, whose response is stored.
  const answered = await callApi(`${url}/api/v1/messages`, {
    key,
    headers: { "Idempotency-Key": `key-${name}` },
    json: message({ chatId: `sync ${name}` }),
  });
  if (answered.status !== 200) throw new Error(`the canary was not answered: ${answered.text}`);
  const { ticketId = "" } = answered.body;

  // Callbacks that no one receives.
  const unreachable = `http://127.0.0.1:${await freePort()}/${name}?${name}`;
  const called = await call("/messages", { json: message({ chatId: `webhook ${name}`, webhookUrl: unreachable }) });
  const calledId = called.body.ticketId ?? "";

  // An operator handles a conversation: a note, a reply, a draft for later messages, and an example for triage.
  const checked = await call("/messages", { json: message({ chatId: `review ${name}`, mode: "async" }) });
  const checkedId = checked.body.ticketId ?? "";
  await review.untilIn(checkedId, "done");
  for (const [action, json] of [
    ["takeover", {}],
    ["note", { text: `Note on ${name}.` }],
    ["reply", { text: `Reply to ${name}.` }],
  ] as const) {
    const decided = await review.decide(checkedId, action, { json });
    if (decided.status !== 200) throw new Error(`${action}: ${decided.text}`);
  }
  await call("/messages", { json: message({ chatId: `review ${name}`, mode: "async" }) });
  await review.until(checkedId, ({ draft }) => draft !== null, "have a draft");
  const [heard] = await queryDatabase<{ id: string }>(
    databaseUrl,
    "SELECT id FROM messages WHERE ticket_id = $1 ORDER BY seq LIMIT 1",
    [checkedId],
  );
  const about = { messageId: heard?.id ?? "", ticketId: checkedId, agentId: null, text: `I am ${name}.` };
  await store.triageMessages.record(project, about);
  await store.gaps.record(project, { ...about, question: `Who is ${name}?`, terms: [name], language: "en" });
  await sql(
    `INSERT INTO proposals (id, project_id, kb_id, ticket_id, action, title, question, before, after, created_by)
     VALUES ($1, $2, $1, $3, 'add', $4, $4, $4, $4, 'test')`,
    [newId(), project, checkedId, name],
  );
  await sql("UPDATE drafts SET text = $2, sources = jsonb_build_array($2::text), why = $2 WHERE ticket_id = $1", [
    checkedId,
    name,
  ]);

  // A file, and a dead letter.
  await sql(
    `INSERT INTO replies (id, project_id, ticket_id, seq, author, type, filename, mime, content)
     VALUES ($1, $2, $3, 900, 'operator', 'attachment', $4, $4, convert_to($4, 'UTF8'))`,
    [newId(), project, ticketId, name],
  );
  await sql("UPDATE chats SET last_seq = 900 WHERE ticket_id = $1", [ticketId]);
  await sql(
    `UPDATE messages SET state = 'failed', failure = $2, attachments = jsonb_build_array(jsonb_build_object('name', $2::text))
     WHERE ticket_id = $1`,
    [ticketId, name],
  );

  // A call of a language model, whose text is not stored.
  const used = { inputTokens: 100, outputTokens: 20, costUsd: null, ms: 800, fault: null };
  await store.modelCalls.insert(project, { ticketId, purpose: "answer", model: "openai:gpt-test", ...used });

  // A call of a tool, with its result.
  await sql(
    `INSERT INTO tool_calls (id, project_id, ticket_id, message_id, agent_id, tool, mark, access, call_key, occurrence,
       arguments, state, result)
     SELECT $1, $2, m.ticket_id, m.id, $1, 'find_order', 'x', 'read', 'x', 0, jsonb_build_object('name', $4::text), 'done', $4
     FROM messages m WHERE m.ticket_id = $3 LIMIT 1`,
    [newId(), project, ticketId, name],
  );

  // Data of a widget visitor besides messages; here with a conversation of the API, which is erased in the same way.
  await store.widgetFiles.insert(project, {
    ticketId,
    filename: `${name}.txt`,
    mime: "text/plain",
    content: Buffer.from(`I am ${name}.`),
  });
  await store.visitors.reserve(project, ticketId, `id-${name}`);
  await store.visitors.rate(project, ticketId, { score: 5, comment: `${name} is happy` });

  // Updates of the messenger that are dead letters: one of an existing conversation, one without a conversation.
  const botId = Number.parseInt(newId().slice(-10), 16);
  await store.channelUpdates.insertMany(
    project,
    botId,
    [ticketId, newId()].map((of, index) => ({
      updateId: index,
      origin: { ticketId: of, chatId: `telegram ${name}`, userId },
      body: JSON.stringify({ message: { text: name } }),
      excerpt: name,
      albumId: null,
    })),
  );
  await store.channelUpdates.markDead(botId, [0, 1], name);

  // A file that an operator has uploaded for an unsent reply.
  const handedIn = { filename: `${name}.txt`, mime: "text/plain", content: Buffer.from(`I am ${name}.`) };
  await store.operatorFiles.insert(project, ticketId, handedIn);

  // An inbox view for the person's tickets, saved by an operator.
  const operator = await store.operators.insert({
    email: `view-${newId()}@example.com`,
    name: "Ann",
    roles: [{ project, role: "operator" }],
    passwordHash: null,
  });
  if (operator === null) throw new Error("the operator was not made");
  const view = { name: "Theirs", view: "all", filters: { userId } };
  await store.operatorViews.put(operator.id, view, { project, maxCount: 50 });

  // A hook of a platform, whose body is stored.
  const hook = await call("/admin/hooks", {
    json: {
      name: "form",
      preset: "form",
      mapping: { text: "{{$.message}}", userId: "{{$.user}}", chatId: "{{$.chat}}", eventId: "{{$.event}}" },
    },
  });
  const { item } = hook.body as unknown as { item: { url?: string; id: string; secret?: string } };
  const path = item.url === undefined ? `/hooks/${item.id}/${item.secret ?? ""}` : new URL(item.url, url).pathname;
  const post = (json: object) =>
    callApi(new URL(path.startsWith("/api") ? path : `/api/v1${path}`, url).href, { json });
  const hooked = await post({ message: `I am ${name}.`, user: userId, chat: `hook ${name}`, event: `event-${name}` });
  if (hooked.status !== 202) throw new Error(`the hook took nothing: ${hook.text} ${hooked.text}`);
  const hookedId = hooked.body.ticketId ?? ticketIdOf(project, "api", `hook ${name}`);
  await review.untilIn(hookedId, "done");
  // Bodies that do not become messages: one contains the person, one the person's chat.
  for (const json of [{ user: userId }, { chat: `hook ${name}` }]) {
    const refused = await post({ ...json, note: name });
    if (refused.status !== 400) throw new Error(`the hook took a body without a text: ${refused.text}`);
  }

  await waitFor(
    async () =>
      (
        await sql(
          "SELECT 1 FROM deliveries d JOIN delivery_attempts a ON a.delivery_id = d.id WHERE d.ticket_id = $1 AND a.error IS NOT NULL",
          [calledId],
        )
      ).length > 0,
    { what: "a callback to be tried in vain", timeoutMs: 20_000 },
  );
  const ticketIds = [ticketId, calledId, checkedId, hookedId];
  await waitFor(
    async () =>
      (
        await sql(
          `SELECT FROM deliveries d JOIN delivery_attempts a ON a.delivery_id = d.id
           WHERE d.subject_id = ANY ($1) AND d.webhook_id IS NOT NULL AND a.error IS NOT NULL`,
          [ticketIds],
        )
      ).length > 0,
    { what: "an event to be tried in vain", timeoutMs: 20_000 },
  );
  await waitFor(
    async () =>
      (await sql("SELECT FROM ticket_customers WHERE ticket_id = ANY ($1)", [ticketIds])).length === ticketIds.length,
    { what: "the customer of each conversation", timeoutMs: 20_000 },
  );
  return { name, project, projectName, key, userId, ticketIds };
}
