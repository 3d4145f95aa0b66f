import type { Project, Store } from "@svc/store";

const RENEW_MS = 1_000;

/**
 * Blocks the pipeline on a chat, like a worker that processes an earlier message: with a separate message and the lease
 * of the chat. Returns the function that finishes that message without a reply and releases the lease; messages that
 * arrive meanwhile are found by the sweeper.
 */
export async function holdChat(
  store: Store,
  { id: project }: Pick<Project, "id">,
  chatId: string,
  channelId: "api" | "widget" = "api",
): Promise<() => Promise<void>> {
  const { ticketId } = await store.messages.accept(project, {
    channelId,
    chatId,
    userId: null,
    text: "held by the test",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "async",
    callInstance: null,
    callback: null,
  });
  // The message is not announced, and the sweeper finds it only after two seconds, so this claim succeeds.
  const message = await store.messages.claim(project, ticketId);
  if (message === null) throw new Error(`the chat ${chatId} is being worked on`);
  await store.tickets.open(project, message);
  let renewing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    renewing = store.chats.renewLeases([message]);
  }, RENEW_MS);
  return async () => {
    clearInterval(timer);
    await renewing;
    const finished = await store.tickets.finish(project, {
      message,
      state: "answered",
      failure: null,
      stage: "done",
      status: "pending",
      agentId: null,
      confidence: null,
      language: null,
      moves: [],
      trace: {},
      replies: [],
      draft: null,
    });
    if (finished === null) throw new Error(`the lease on the chat ${chatId} was lost`);
  };
}
