import { randomUUID } from "node:crypto";
import type {
  AcceptedMessage,
  Channel,
  IncomingContext,
  IncomingHandler,
  IncomingMessage,
  ReplyContext,
} from "@svc/contracts";
import type { expect as jestExpect, test as jestTest } from "@jest/globals";
import { waitFor } from "./wait-for.ts";

/** An item that the receiver of a channel got, in order of arrival. */
export type SentItem = {
  chatId: string;
  /** The part of the reply's context that the receiver gets. */
  context?: Partial<ReplyContext>;
} & (
  | { kind: "message"; text: string }
  | { kind: "attachment"; filename: string; mime: string; content: Buffer }
  | { kind: "typing" }
);

/** An item that the suite sends through a channel. */
export type ItemToSend =
  | { kind: "message"; text: string }
  | { kind: "attachment"; filename: string; mime: string; content: Buffer };

/** A channel that is not started yet, and its environment. */
export interface ChannelUnderTest {
  channel: Channel;
  /**
   * Sends a message to this channel like a customer. Resolves if the channel reports to the sender that it was
   * accepted; rejects if the channel reports an error or is unreachable. Absent for a channel that only sends.
   */
  receive?(message: { sender: string; text: string }): Promise<void>;
  /** Returns what the receivers got so far; for a channel that is polled, what was collected so far. */
  sent(): SentItem[] | Promise<SentItem[]>;
  /** Closes everything, including the channel if it is running. */
  close(): Promise<void>;
  /** Returns the chat of a sender; by default the sender's name is the chat id. */
  chatIdOf?(sender: string): string;
  /**
   * Commits messages. By default they get invented ids; a channel that reads its replies from the store needs the real
   * handler.
   */
  accept?: IncomingHandler;
  /** Stores a reply that is announced to the channel, and returns its context. By default the context is invented. */
  prepareReply?(accepted: AcceptedMessage, item: ItemToSend): Promise<ReplyContext>;
  /** Maximum length of a text that this channel accepts and sends, in code points. Default: 50,000. */
  textMaxChars?: number;
}

const EXACT_TEXTS = {
  "emoji and combined characters": "👩‍👩‍👧‍👦 is one family, e\u0301 is é, 🏳️‍🌈 and 𝒳",
  "right-to-left text": "שלום עולם — مرحبا بالعالم (abc) ١٢٣",
  "line breaks, tabs and quotes": 'first\n\n\tsecond "third" <b>&amp;</b> \\n {{x}} `code`',
};

/** More starts and stops prove nothing new. */
const ROUNDS = 3;

/**
 * Guarantees of every channel (service document, sections 2.3 to 2.5), as tests of the calling file. `make` returns a
 * new channel for each test; `test` and `expect` are those of `@jest/globals`. A test waits up to `timeoutMs` (10 s).
 * With `sendsOnly`, guarantees about incoming messages are left out.
 */
export function channelConformance(
  make: () => Promise<ChannelUnderTest>,
  options: { test: typeof jestTest; expect: typeof jestExpect; timeoutMs?: number; sendsOnly?: boolean },
): void {
  const { test, expect, timeoutMs = 10_000, sendsOnly = false } = options;

  /** Defines a test with its own channel, whose handler records its calls. */
  function promise(title: string, run: (subject: Subject) => Promise<void>): void {
    test(title, async () => {
      const world = await make();
      try {
        await run(subjectOf(world, timeoutMs));
      } finally {
        await world.close();
      }
    });
  }

  /** Defines a test about incoming messages. */
  const receivePromise: typeof promise = (title, run) => {
    if (!sendsOnly) promise(title, run);
  };

  promise("a second handler is refused", async ({ channel }) => {
    expect(() => channel.onMessage(() => Promise.reject(new Error("never called")))).toThrow();
  });

  receivePromise("an incoming message reaches the handler with the fields of the document", async (subject) => {
    await subject.channel.start();
    await subject.receive({ sender: "conformance-1", text: "hello" });
    const message = await subject.nextMessage();
    const { incomingMessageSchema } = await import("@svc/contracts");
    expect(incomingMessageSchema.parse(message)).toEqual(message);
    expect(message).toMatchObject({
      channelId: subject.channel.id,
      chatId: subject.chatIdOf("conformance-1"),
      text: "hello",
    });
    // Seconds instead of milliseconds would be a date in 1970.
    expect(new Date(message.timestamp).getUTCFullYear()).toBeGreaterThanOrEqual(2020);
    expect(Number.isInteger(message.timestamp)).toBe(true);
  });

  receivePromise("an incoming message says which project it came in to", async (subject) => {
    await subject.channel.start();
    await subject.receive({ sender: "conformance-1", text: "hello" });
    await subject.nextMessage();
    expect(subject.contexts[0]?.project).toMatch(/./);
  });

  receivePromise("messages of one sender share a chat, and those of another have their own", async (subject) => {
    await subject.channel.start();
    for (const sender of ["conformance-1", "conformance-2", "conformance-1"]) {
      await subject.receive({ sender, text: `from ${sender}` });
    }
    const messages = [await subject.nextMessage(), await subject.nextMessage(), await subject.nextMessage()];
    // Only messages of the same chat are ordered: a channel may deliver those of two chats concurrently.
    const chatsOf = (sender: string) =>
      messages.filter(({ text }) => text === `from ${sender}`).map(({ chatId }) => chatId);
    const [first, third] = chatsOf("conformance-1");
    const [second] = chatsOf("conformance-2");
    expect([first, second, third]).not.toContain(undefined);
    expect(third).toBe(first);
    expect(second).not.toBe(first);
  });

  receivePromise("nothing is handed over before start", async (subject) => {
    await subject.receive({ sender: "conformance-1", text: "too early" }).catch(ignoreRefusal);
    expect(subject.handed).toEqual([]);
  });

  receivePromise("nothing is handed over after stop", async (subject) => {
    await subject.channel.start();
    await subject.receive({ sender: "conformance-1", text: "in time" });
    await subject.nextMessage();
    await subject.channel.stop();
    await subject.receive({ sender: "conformance-1", text: "too late" }).catch(ignoreRefusal);
    expect(subject.handed.map(({ text }) => text)).toEqual(["in time"]);
  });

  receivePromise("it can be started again after stop, with the same handler", async (subject) => {
    for (let round = 1; round <= ROUNDS; round++) {
      await subject.channel.start();
      await subject.receive({ sender: "conformance-1", text: `round ${round}` });
      expect(await subject.nextMessage()).toMatchObject({ text: `round ${round}` });
      await subject.channel.stop();
    }
  });

  receivePromise(
    "a message that the handler refuses is not lost: its sender is told, or it comes again",
    async (subject) => {
      await subject.channel.start();
      subject.refuseNext();
      const answer = await subject.receive({ sender: "conformance-1", text: "refused once" }).then(
        () => "accepted",
        () => "refused",
      );
      expect(await subject.nextMessage()).toMatchObject({ text: "refused once" });
      if (answer === "refused") return;
      expect(await subject.nextMessage()).toMatchObject({ text: "refused once" });
    },
  );

  receivePromise("a refused message does not harm the next one", async (subject) => {
    await subject.channel.start();
    subject.refuseNext();
    await subject.receive({ sender: "conformance-1", text: "refused" }).catch(ignoreRefusal);
    await subject.receive({ sender: "conformance-2", text: "fine" });
    await waitFor(() => subject.handed.some(({ text }) => text === "fine"), {
      what: "the message after a refused one",
      timeoutMs,
    });
  });

  for (const [what, text] of Object.entries(EXACT_TEXTS)) {
    receivePromise(`${what}: kept exactly on the way in`, async (subject) => {
      await subject.channel.start();
      await subject.receive({ sender: "conformance-1", text });
      expect((await subject.nextMessage()).text).toBe(text);
    });

    promise(`${what}: kept exactly on the way out`, async (subject) => {
      await subject.channel.start();
      await subject.send({ kind: "message", text });
      expect(await subject.nextSent("message")).toMatchObject({ text });
    });
  }

  const longestText = (subject: Subject) => "é🙂".repeat(subject.textMaxChars / 2);

  receivePromise("the longest text is kept whole on the way in", async (subject) => {
    await subject.channel.start();
    const text = longestText(subject);
    await subject.receive({ sender: "conformance-1", text });
    // Compared as a condition, because a difference of 50,000 characters is useless in a failure.
    expect((await subject.nextMessage()).text === text).toBe(true);
  });

  promise("the longest text is kept whole on the way out", async (subject) => {
    await subject.channel.start();
    const text = longestText(subject);
    await subject.send({ kind: "message", text });
    const item = await subject.nextSent("message");
    expect(item.kind === "message" && item.text === text).toBe(true);
  });

  promise("a message reaches the receiver once, in its chat and with its context", async (subject) => {
    await subject.channel.start();
    const context = await subject.send({ kind: "message", text: "the answer" });
    const item = await subject.nextSent("message");
    expect(item).toMatchObject({ chatId: subject.chatIdOf("conformance-1"), text: "the answer" });
    expectContext(item, context);

    // If anything else were still pending, it would have arrived before the next one.
    await subject.send({ kind: "message", text: "the next answer" });
    await subject.nextSent("message");
    expect((await subject.sentOf("message")).length).toBe(2);
  });

  promise("sendMessage resolves for a chat that is there", async (subject) => {
    await subject.channel.start();
    const context = await subject.send({ kind: "message", text: "first an answer" });
    await subject.channel.sendMessage(subject.chatIdOf("conformance-1"), "another", { ...context, markdown: true });
  });

  promise("messages reach the receiver in the order in which they were sent", async (subject) => {
    await subject.channel.start();
    const texts = ["one", "two", "three", "four", "five"];
    for (const text of texts) await subject.send({ kind: "message", text });
    for (const text of texts) expect(await subject.nextSent("message")).toMatchObject({ text });
  });

  promise("an attachment reaches the receiver once, byte for byte and with its context", async (subject) => {
    if (subject.channel.sendAttachment === undefined) return;
    await subject.channel.start();
    const content = Buffer.from(Array.from({ length: 4_096 }, (_, index) => index % 256));
    const attachment = { filename: "Übersicht 1.xlsx", mime: "application/octet-stream", content };
    const context = await subject.send({ kind: "attachment", ...attachment });
    const item = await subject.nextSent("attachment");
    expect(item).toMatchObject({ chatId: subject.chatIdOf("conformance-1"), ...attachment });
    expectContext(item, context);
    expect((await subject.sentOf("attachment")).length).toBe(1);
  });

  promise("markTyping resolves, and what the receiver sees of it is in its chat", async (subject) => {
    if (subject.channel.markTyping === undefined) return;
    await subject.channel.start();
    const { project, ticketId } = await subject.send({ kind: "message", text: "first an answer" });
    const chatId = subject.chatIdOf("conformance-1");
    await subject.channel.markTyping(chatId, { project, ticketId });
    for (const item of await subject.sentOf("typing")) expect(item.chatId).toBe(chatId);
  });

  /** A receiver may get only a part of the context (a person in a chat app sees no IDs), but nothing else. */
  function expectContext(item: SentItem, context: ReplyContext): void {
    expect(context).toMatchObject(item.context ?? {});
  }
}

/** Ignores the rejection of a message. The tests that cause one check the handler instead. */
function ignoreRefusal(): void {}

interface Subject {
  channel: Channel;
  textMaxChars: number;
  /** All messages that the handler received. */
  handed: IncomingMessage[];
  /** Contexts of these messages, one for each. */
  contexts: IncomingContext[];
  /** Waits for the first message that the handler received and the test has not read yet. */
  nextMessage(): Promise<IncomingMessage>;
  /** Makes the handler reject once. */
  refuseNext(): void;
  receive(message: { sender: string; text: string }): Promise<void>;
  chatIdOf(sender: string): string;
  /** Sends an item to the chat of `conformance-1`, which is created if necessary, and returns its context. */
  send(item: ItemToSend): Promise<ReplyContext>;
  sentOf(kind: SentItem["kind"]): Promise<SentItem[]>;
  /** Waits for the first item of a kind that a receiver got and the test has not read yet. */
  nextSent(kind: SentItem["kind"]): Promise<SentItem>;
}

function subjectOf(world: ChannelUnderTest, timeoutMs: number): Subject {
  const { channel } = world;
  const chatIdOf = (sender: string) => world.chatIdOf?.(sender) ?? sender;
  const handed: IncomingMessage[] = [];
  const contexts: IncomingContext[] = [];
  const checked = { messages: 0, message: 0, attachment: 0, typing: 0 };
  const openChats = new Map<string, AcceptedMessage>();
  let seq = 0;
  let isToRefuse = false;

  const makeUpAccepted = (chatId: string): AcceptedMessage => ({
    messageId: randomUUID(),
    ticketId: openChats.get(chatId)?.ticketId ?? randomUUID(),
    seq: ++seq,
  });
  const makeUpReply = ({ ticketId }: AcceptedMessage): ReplyContext => ({
    project: contexts.at(-1)?.project ?? "",
    ticketId,
    replyId: randomUUID(),
    seq: ++seq,
  });

  channel.onMessage(async (message, context) => {
    handed.push(message);
    contexts.push(context);
    if (isToRefuse) {
      isToRefuse = false;
      throw new Error("the handler of the conformance suite refuses this message");
    }
    const accepted = (await world.accept?.(message, context)) ?? makeUpAccepted(message.chatId);
    openChats.set(message.chatId, accepted);
    return accepted;
  });

  async function nextMessage(): Promise<IncomingMessage> {
    const index = checked.messages++;
    return waitFor(() => handed[index], { what: `message ${index + 1} to reach the handler`, timeoutMs });
  }
  const sentOf = async (kind: SentItem["kind"]) => (await world.sent()).filter((item) => item.kind === kind);

  /** Returns the message that a reply answers: the last one of the chat, or a new one. */
  async function openChat(chatId: string): Promise<AcceptedMessage> {
    const known = openChats.get(chatId);
    if (known !== undefined) return known;
    if (world.receive === undefined) {
      const opened = makeUpAccepted(chatId);
      openChats.set(chatId, opened);
      return opened;
    }
    await world.receive({ sender: "conformance-1", text: "a question" });
    await nextMessage();
    return waitFor(() => openChats.get(chatId), { what: "a message to be accepted", timeoutMs });
  }

  return {
    channel,
    textMaxChars: world.textMaxChars ?? 50_000,
    handed,
    contexts,
    nextMessage,
    refuseNext() {
      isToRefuse = true;
    },
    receive(message) {
      if (world.receive === undefined) throw new Error("a channel without `receive` needs the option `sendsOnly`");
      return world.receive(message);
    },
    chatIdOf,
    async send(item) {
      const chatId = chatIdOf("conformance-1");
      const accepted = await openChat(chatId);
      const context = (await world.prepareReply?.(accepted, item)) ?? makeUpReply(accepted);
      const { project, ticketId } = context;
      const inReplyTo = accepted.messageId;
      if (channel.announce !== undefined) {
        // The reply is in the store. The announcement wakes up its receiver, which collects it.
        await channel.announce([{ project, ticketId, messageId: inReplyTo, mode: "async" }]);
      } else if (item.kind === "message") {
        await channel.sendMessage(chatId, item.text, { ...context, inReplyTo, markdown: false });
      } else {
        const { filename, mime, content } = item;
        await channel.sendAttachment?.(chatId, { filename, mime, content }, context);
      }
      return context;
    },
    sentOf,
    nextSent(kind) {
      const index = checked[kind]++;
      return waitFor(async () => (await sentOf(kind))[index], {
        what: `${kind} ${index + 1} to reach the receiver`,
        timeoutMs,
      });
    },
  };
}
