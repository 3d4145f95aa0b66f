import { addDocument } from "@svc/knowledge";
import { announceWork } from "@svc/queue";
import { pipelineService } from "@svc/pipeline";
import { closeResources, loadConfig, openResources } from "@svc/runtime";
import { newId } from "@svc/store";
import type { NewAgent, ProjectId } from "@svc/store";
import { createTestDatabase, createTestQueueBackend, testLog, queryDatabase } from "@svc/testing";
import type { AcceptedMessage } from "@svc/contracts";
import { addProject } from "./add-project.ts";

/** A reply as stored in the database. */
export interface ReplyRow {
  seq: number;
  text: string;
  author: string;
  inReplyTo: string;
}

/** Pipelines in this process, each with separate connections, on a separate database and queues. */
export type Pipelines = Awaited<ReturnType<typeof openPipelines>>;

/** Prepares a database and queues for pipelines, with tools for the test. Close it in `afterAll`. */
export async function openPipelines() {
  const database = await createTestDatabase();
  const queueBackend = await createTestQueueBackend();
  const config = loadConfig({
    DATABASE_URL: database.url,
    ...(queueBackend.redisUrl === undefined ? {} : { REDIS_URL: queueBackend.redisUrl }),
    SVC_QUEUE_PREFIX: queueBackend.prefix,
    SVC_SECRET_KEY: "pipelines-secret-key-of-48-characters-0123456789",
  });
  const openPart = () => openResources(config, { app: "pipeline", log: testLog() });
  const frontDoor = await openPart();
  const { store, queues } = frontDoor;
  const running = new Set<() => Promise<void>>();

  const sql = <Row extends object>(text: string, values: unknown[] = []) =>
    queryDatabase<Row>(database.url, text, values);

  return {
    databaseUrl: database.url,
    store,
    queues,
    sql,

    /** Starts a pipeline like a separate process; returns the function that stops it. */
    async start(): Promise<() => Promise<void>> {
      const resources = await openPart();
      const service = await pipelineService(resources).start();
      const stop = async () => {
        if (!running.delete(stop)) return;
        await service.stop();
        await closeResources(resources);
      };
      running.add(stop);
      return stop;
    },

    /** Creates a new project with one agent. */
    async newProject(agent: Omit<NewAgent, "name">, settings: { handoffText?: string } = {}): Promise<ProjectId> {
      return (await addProject(store, `project-${newId()}`, agent, settings)).id;
    },

    /** Like `newProject`, with an agent that must read the postings of a knowledge base first: it finds nothing. */
    async newSearchingProject(settings: { handoffText?: string }): Promise<ProjectId> {
      const { project } = await store.projects.ensure(`project-${newId()}`);
      const { kb } = await store.kbs.ensure(project.id, "manual");
      await addDocument({ store, log: testLog() }, project.id, kb.id, { key: "a", text: "Zebras", mime: "text/plain" });
      await addProject(store, project.name, { kbIds: [kb.id] }, settings);
      return project.id;
    },

    /** Commits a message like a channel, and announces it unless the sweeper is to find it. */
    async send(
      project: ProjectId,
      chatId: string,
      text: string,
      options: { isAnnounced?: boolean } = {},
    ): Promise<AcceptedMessage> {
      const accepted = await store.messages.accept(project, {
        channelId: "api",
        chatId,
        userId: null,
        text,
        timestampMs: Date.now(),
        attachments: null,
        channelMeta: {},
        mode: "async",
        callInstance: null,
        callback: null,
      });
      if (options.isAnnounced !== false)
        await announceWork(queues, "incoming-messages", [{ project, ...accepted, attempts: 0 }]);
      return accepted;
    },

    /** Returns all replies of a ticket in order. */
    listReplies: (ticketId: string) =>
      sql<ReplyRow>(
        `SELECT seq::integer, text, author, in_reply_to AS "inReplyTo" FROM replies WHERE ticket_id = $1 ORDER BY seq`,
        [ticketId],
      ),

    /** Returns the state of a message, its number of attempts, and the time of the next one. */
    async readMessage(messageId: string) {
      const rows = await sql<{ state: string; attempts: number; notBefore: Date | null; progress: object | null }>(
        `SELECT state, attempts, not_before AS "notBefore", progress FROM messages WHERE id = $1`,
        [messageId],
      );
      return rows[0];
    },

    /** Makes a message that waits for its next attempt due now. */
    async hurry(messageId: string): Promise<void> {
      // A message that is already due stays unchanged: if its due time moved with each call, the sweeper would never
      // find it.
      await sql("UPDATE messages SET not_before = now(), due_at = now() WHERE id = $1 AND not_before > now()", [
        messageId,
      ]);
    },

    async close(): Promise<void> {
      for (const stop of running) await stop();
      await closeResources(frontDoor);
      await queueBackend.stop();
      await database.drop();
    },
  };
}
