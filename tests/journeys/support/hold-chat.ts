import type { Project, Store } from "@svc/store";

const RENEW_MS = 1_000;

/**
 * Keeps the pipeline from working on a chat, as a worker does that is busy with an earlier message of it: with a
 * message of its own and the lease on the chat. Answers the function that finishes that message, without a reply, and
 * gives the lease back; what came in meanwhile is found by the sweeper.
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
  // Nobody is told of the message, and the sweeper looks for it only after two seconds: nobody can be faster.
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
