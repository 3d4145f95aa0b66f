import { createHash } from "node:crypto";
import { asProjectId, createSealer, newId, ticketIdOf } from "@svc/store";
import { repositoryPath } from "@svc/testing";
import { runner } from "node-pg-migrate";
import { Client } from "pg";
import { SECRET_KEY } from "./start-product.ts";

const MIGRATIONS_DIRECTORY = repositoryPath("packages/store/migrations");
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Applies the first `count` migrations to an empty database. */
export async function migrateFromNothing(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS bullmq CASCADE");
  await client.end();
  await runner({
    databaseUrl: url,
    dir: MIGRATIONS_DIRECTORY,
    migrationsTable: "schema_migrations",
    direction: "up",
    count,
    logger: SILENT,
  });
}

/** Number of migrations in the first version. */
export const FIRST_MIGRATIONS = 2;

/** Data of an installation of the first version. */
export const FIRST = {
  key: "first-key-of-the-first-version-0123456789",
  webhookSecret: "the webhook secret of the first version",
  fixedReply: "The answer of the first version's agent.",
  answered: { chatId: "answered", text: "Is anybody there?", reply: "Yes, since the first version. \\. \t \u2028" },
  waiting: { chatId: "waiting", text: "Who answers this?" },
  passage: "The lighthouse keeper repairs the barometer every Thursday.",
} as const;

/** Migrates to the schema of the first version, and inserts rows as that version wrote them. */
export async function plantFirstSchema(url: string): Promise<void> {
  await migrateFromNothing(url, FIRST_MIGRATIONS);
  const client = new Client({ connectionString: url });
  await client.connect();
  const run = (text: string, ...values: unknown[]) => client.query(text, values);
  const sealer = createSealer(SECRET_KEY);
  const project = asProjectId(newId());
  const [kb, document, chunk] = [newId(), newId(), newId()];
  try {
    await run(
      "UPDATE installation SET secret_key_check = $1, initialized_at = now(), admin_key_shown_at = now()",
      sealer.seal("svc secret key check").sealed,
    );
    await run("INSERT INTO projects (id, name, handoff_text) VALUES ($1, 'default', 'A person will answer.')", project);
    await run(
      `INSERT INTO api_keys (id, project_id, name, prefix, hash, scopes, created_by)
       VALUES ($1, NULL, 'first', $2, $3, '{admin:*}', 'initialisation')`,
      newId(),
      FIRST.key.slice(0, 8),
      createHash("sha256").update(FIRST.key).digest(),
    );
    await run(
      `UPDATE channels_config SET enabled = '{api}',
         api = jsonb_set(api, '{config}', $1::jsonb), version = version + 1`,
      JSON.stringify({ webhookSecret: sealer.seal(FIRST.webhookSecret) }),
    );
    await run(
      `INSERT INTO kbs (id, project_id, name, document_count, chunk_count, term_total, languages)
       VALUES ($1, $2, 'handbook', 1, 1, 8, '{en}')`,
      kb,
      project,
    );
    await run(
      `INSERT INTO documents (id, project_id, kb_id, key, title, mime, size_bytes, content_hash, language, status, chunk_count)
       VALUES ($1, $2, $3, 'lighthouse.md', 'Lighthouse', 'text/markdown', 60, $4, 'en', 'ready', 1)`,
      document,
      project,
      kb,
      createHash("sha256").update(FIRST.passage).digest(),
    );
    // That version numbered the passages of a document from 1.
    await run(
      `INSERT INTO chunks (id, project_id, kb_id, document_id, ordinal, heading_path, text, start_offset, end_offset, term_count)
       VALUES ($1, $2, $3, $4, 1, '{Lighthouse}', $5, 0, $6, 8)`,
      chunk,
      project,
      kb,
      document,
      FIRST.passage,
      FIRST.passage.length,
    );
    for (const term of ["lighthous", "keeper", "repair", "baromet", "everi", "thursday"]) {
      await run(
        `INSERT INTO chunk_terms (kb_id, term, chunk_id, title_count, heading_count, body_count, chunk_term_count)
         VALUES ($1, $2, $3, 0, 0, 1, 8)`,
        kb,
        term,
        chunk,
      );
      await run("INSERT INTO kb_terms (kb_id, term, chunk_count) VALUES ($1, $2, 1)", kb, term);
    }
    await run(
      `INSERT INTO agents (id, project_id, name, description, kb_ids, review_policy, auto_threshold, fixed_reply)
       VALUES ($1, $2, 'first', 'Answers everything.', $3, 'auto', 0.5, $4)`,
      newId(),
      project,
      [kb],
      FIRST.fixedReply,
    );
    for (const { chatId, text, isAnswered } of [
      { ...FIRST.answered, isAnswered: true },
      { ...FIRST.waiting, isAnswered: false },
    ]) {
      const [ticket, message] = [ticketIdOf(project, "api", chatId), newId()];
      await run(
        "INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq) VALUES ($1, $2, 'api', $3, $4)",
        ticket,
        project,
        chatId,
        isAnswered ? 2 : 1,
      );
      await run(
        `INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, mode, due_at, state, attempts, finished_at)
         VALUES ($1, $2, $3, 1, $4, $5, '{}', 'async', now(), $6, $7, $8)`,
        message,
        project,
        ticket,
        text,
        Date.now(),
        isAnswered ? "answered" : "received",
        isAnswered ? 1 : 0,
        isAnswered ? new Date() : null,
      );
      if (!isAnswered) continue;
      await run(
        `INSERT INTO tickets (id, home_project_id, project_id, channel_id, chat_id, subject, status, stage, first_reply_at)
         VALUES ($1, $2, $2, 'api', $3, $4, 'pending', 'done', now())`,
        ticket,
        project,
        chatId,
        text,
      );
      await run(
        `INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data)
         VALUES ($1, $2, $3, 'pipeline', '[]', '{}')`,
        ticket,
        project,
        message,
      );
      await run(
        `INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown)
         VALUES ($1, $2, $3, 2, $4, 'agent', 'message', $5, false)`,
        newId(),
        project,
        ticket,
        message,
        FIRST.answered.reply,
      );
    }
  } finally {
    await client.end();
  }
}
