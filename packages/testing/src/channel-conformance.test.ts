import { describe, expect, test } from "@jest/globals";
import type { Channel, IncomingHandler, IncomingMessage } from "@svc/contracts";
import { channelConformance } from "./channel-conformance.ts";
import type { ChannelUnderTest, SentItem } from "./channel-conformance.ts";

/** A channel without a network: what a sender says is a call, what a receiver gets is a list. */
function memoryChannel() {
  let handler: IncomingHandler | null = null;
  let isRunning = false;
  const received: SentItem[] = [];
  const channel: Channel = {
    id: "messenger",
    async start() {
      isRunning = true;
    },
    async stop() {
      isRunning = false;
    },
    onMessage(given) {
      if (handler !== null) throw new Error("there is a handler already");
      handler = given;
    },
    async sendMessage(chatId, text, metadata = {}) {
      const { inReplyTo: _, markdown: __, ...context } = metadata;
      received.push({ kind: "message", chatId, text, context });
    },
    async sendAttachment(chatId, attachment, context = { project: "", ticketId: "", replyId: "", seq: 0 }) {
      received.push({ kind: "attachment", chatId, ...attachment, context });
    },
    async markTyping(chatId, context = { project: "", ticketId: "" }) {
      received.push({ kind: "typing", chatId, context });
    },
  };
  const world: Required<Pick<ChannelUnderTest, "receive">> & ChannelUnderTest = {
    channel,
    async receive({ sender, text }) {
      if (!isRunning) throw new Error("nobody is there");
      const message = { channelId: channel.id, chatId: sender, text, timestamp: Date.now(), channelMeta: {} };
      await handler?.(message, { project: "project-1" });
    },
    sent: () => received,
    close: () => channel.stop(),
  };
  return { channel, world, received, handle: () => handler };
}

type Memory = ReturnType<typeof memoryChannel>;

channelConformance(async () => memoryChannel().world, { test, expect });

describe("a channel that only sends", () => {
  const make = async () => {
    const { receive: _, ...world } = memoryChannel().world;
    return world;
  };
  channelConformance(make, { test, expect, sendsOnly: true });
});

/** Channels that break one promise each, and a word of the promise that they break. */
const BROKEN: Record<string, { breaks: RegExp; spoil: (memory: Memory) => void }> = {
  "takes a second handler": {
    breaks: /second handler/,
    spoil: ({ channel }) => {
      const { onMessage } = channel;
      let isFirst = true;
      channel.onMessage = (handler) => {
        if (isFirst) onMessage(handler);
        isFirst = false;
      };
    },
  },
  "hands over before it is started": {
    breaks: /before start/,
    spoil: ({ channel, world }) => {
      const { receive } = world;
      world.receive = async (message) => {
        await channel.start();
        await receive(message);
      };
    },
  },
  "hands over after it is stopped": {
    breaks: /handed over after stop/,
    spoil: ({ channel }) => void (channel.stop = async () => {}),
  },
  "says accepted when the handler refused": {
    breaks: /not lost/,
    spoil: ({ world }) => {
      const { receive } = world;
      world.receive = (message) => receive(message).catch(() => undefined);
    },
  },
  "counts time in seconds": {
    breaks: /fields of the document/,
    spoil: changeIncoming((message) => ({ ...message, timestamp: Math.floor(message.timestamp / 1000) })),
  },
  "has a text for the meta": {
    breaks: /fields of the document/,
    spoil: changeIncoming((message) => ({ ...message, channelMeta: "" }) as unknown as IncomingMessage),
  },
  "puts all senders in one chat": {
    breaks: /have their own/,
    spoil: ({ world }) => {
      const { receive } = world;
      world.receive = (message) => receive({ ...message, sender: "conformance-1" });
    },
  },
  "escapes texts that come in": {
    breaks: /quotes: kept exactly on the way in/,
    spoil: changeIncoming((message) => ({ ...message, text: message.text.replaceAll("<", "&lt;") })),
  },
  "cuts long texts on the way out": {
    breaks: /longest text is kept whole on the way out/,
    spoil: changeOutgoing((text) => [text.slice(0, 4_096)]),
  },
  "sends twice": { breaks: /message reaches the receiver once/, spoil: changeOutgoing((text) => [text, text]) },
  "names another ticket": {
    breaks: /message reaches the receiver once/,
    spoil: ({ channel }) => {
      const { sendMessage } = channel;
      channel.sendMessage = (chatId, text, metadata) => sendMessage(chatId, text, { ...metadata, ticketId: "another" });
    },
  },
  "reads attachments as text": {
    breaks: /byte for byte/,
    spoil: ({ channel }) => {
      const { sendAttachment } = channel;
      channel.sendAttachment = async (chatId, attachment, context) =>
        sendAttachment?.(chatId, { ...attachment, content: Buffer.from(attachment.content.toString("utf8")) }, context);
    },
  },
};

function changeIncoming(change: (message: IncomingMessage) => IncomingMessage) {
  return ({ channel }: Memory) => {
    const { onMessage } = channel;
    channel.onMessage = (handler) => onMessage((message, context) => handler(change(message), context));
  };
}

function changeOutgoing(change: (text: string) => string[]) {
  return ({ channel }: Memory) => {
    const { sendMessage } = channel;
    channel.sendMessage = async (chatId, text, metadata) => {
      for (const part of change(text)) await sendMessage(chatId, part, metadata);
    };
  };
}

for (const [what, { breaks, spoil }] of Object.entries(BROKEN)) {
  test(`the suite finds a channel that ${what}`, async () => {
    const promises: { title: string; run: () => Promise<void> }[] = [];
    const collect = (title: string, run: () => Promise<void>) => void promises.push({ title, run });
    const make = async () => {
      const memory = memoryChannel();
      spoil(memory);
      return memory.world;
    };
    channelConformance(make, { test: collect as typeof test, expect, timeoutMs: 200 });
    const broken = promises.filter(({ title }) => breaks.test(title));
    expect(broken.length).toBe(1);
    for (const { run } of broken) await expect(run()).rejects.toThrow();
  });
}
