import { announceWork } from "@svc/queue";
import { pipelineService } from "@svc/pipeline";
import { closeResources, loadConfig, openResources } from "@svc/runtime";
import { newId } from "@svc/store";
import type { NewAgent, ProjectId } from "@svc/store";
import { createTestDatabase, createTestQueueBackend, testLog } from "@svc/testing";
import type { AcceptedMessage } from "@svc/contracts";
import { addProject } from "./add-project.ts";
import { queryDatabase } from "./query-database.ts";

/** A reply as it lies in the database. */
export interface ReplyRow {
  seq: number;
  text: string;
  author: string;
  inReplyTo: string;
}

/** Pipelines in this process, each with connections of its own, on a database and queues of their own. */
export type Pipelines = Awaited<ReturnType<typeof openPipelines>>;

/** Prepares a database and queues for pipelines, and what a test needs around them. Close it in `afterAll`. */
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

    /** Starts a pipeline, as a process of its own would; answers what stops it. */
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

    /** A project that nobody else has, with one agent. */
    async newProject(agent: Omit<NewAgent, "name">, settings: { handoffText?: string } = {}): Promise<ProjectId> {
      return (await addProject(store, `project-${newId()}`, agent, settings)).id;
    },

    /** As `newProject`, with an agent that has to look into a knowledge base first, which is empty: it finds nothing. */
    async newSearchingProject(settings: { handoffText?: string }): Promise<ProjectId> {
      const { project } = await store.projects.ensure(`project-${newId()}`);
      const { kb } = await store.kbs.ensure(project.id, "empty");
      await addProject(store, project.name, { kbIds: [kb.id] }, settings);
      return project.id;
    },

    /** Commits a message as the front door does, and announces it unless it is to be found by the sweeper. */
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

    /** All replies of a ticket in their order. */
    listReplies: (ticketId: string) =>
      sql<ReplyRow>(
        `SELECT seq::integer, text, author, in_reply_to AS "inReplyTo" FROM replies WHERE ticket_id = $1 ORDER BY seq`,
        [ticketId],
      ),

    /** Where a message is: its state, its tries, and whether it has to wait for the next one. */
    async readMessage(messageId: string) {
      const rows = await sql<{ state: string; attempts: number; notBefore: Date | null; progress: object | null }>(
        `SELECT state, attempts, not_before AS "notBefore", progress FROM messages WHERE id = $1`,
        [messageId],
      );
      return rows[0];
    },

    /** Lets a message that waits for its next try be tried now. */
    async hurry(messageId: string): Promise<void> {
      // What is due already stays as it is: a due time that moves with each call would never be long enough ago.
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
