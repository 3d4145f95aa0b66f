import { describe, expect, test } from "@jest/globals";
import { widgetSettingsSchema } from "@svc/contracts";
import type { ServerFrame } from "@svc/contracts";
import { createLog } from "@svc/log";
import type { ChatEntry, ChatView, SeqRange, ProjectId, Store } from "@svc/store";
import { waitFor } from "@svc/testing";
import { createChatRooms } from "./chat-rooms.ts";
import { sayHello } from "./handle-frame.ts";
import type { FrameContext } from "./handle-frame.ts";
import { createSession } from "./session.ts";
import type { Session } from "./session.ts";

const PROJECT = "01a20276-0000-7000-8000-000000000000" as ProjectId;
const VISITOR = "0c2f9a52-6a3b-4b0e-9d5e-1f6f0f1d7c11";
const log = createLog({ level: "silent" });
const MUCH = 1024 * 1024;

/** Creates a conversation in memory instead of the store, so that a test can change it while it is being read. */
function createChat() {
  const confirmed: SeqRange[] = [];
  let lastSeq = 0;
  let beforeRead = () => {};
  const entryAt = (seq: number): ChatEntry => ({
    kind: "reply",
    id: `id-${seq}`,
    seq,
    createdAt: new Date(),
    author: "agent",
    authorName: "",
    authorPicture: "",
    inReplyTo: null,
    item: { type: "message", text: `reply ${seq}`, markdown: false, sources: [] },
  });
  const visitors = {
    readChatViews: (chats: unknown[]): Promise<ChatView[]> =>
      Promise.resolve(chats.map(() => ({ lastSeq, writer: null, pending: null, state: "open", rating: null }))),
    listAfter: (_project: ProjectId, _ticketId: string, seq: number, limit: number): Promise<ChatEntry[]> => {
      beforeRead();
      const positions = Array.from({ length: lastSeq }, (_, index) => index + 1);
      return Promise.resolve(
        positions
          .filter((position) => position > seq)
          .slice(0, limit)
          .map(entryAt),
      );
    },
    confirm: (_project: ProjectId, _ticketId: string, positions: SeqRange) => {
      confirmed.push(positions);
      return Promise.resolve();
    },
  };
  const rooms = createChatRooms({ store: { visitors } as unknown as Store, log });
  const settings = widgetSettingsSchema.parse({});
  const context = {
    rooms,
    readSite: () =>
      Promise.resolve({
        settings,
        project: PROJECT,
        replyTimes: { businessHours: null, replyTimeMinutes: null },
        identitySecret: null,
      }),
  } as unknown as FrameContext;

  return {
    rooms,
    confirmed,
    /** Adds replies until the chat has this many. */
    growTo(seq: number) {
      lastSeq = seq;
    },
    /** Calls `run` once, while the next part of the conversation is read. */
    whileReading(run: () => void) {
      beforeRead = () => {
        beforeRead = () => {};
        run();
      };
    },
    greet: (session: Session, sinceSeq: number) => sayHello(context, session, { visitorId: VISITOR, sinceSeq }),
    greetAgain: (session: Session) => sayHello(context, session, { sinceSeq: 0 }),
  };
}

/** Creates a connection whose client reads as much as the test allows. */
function createLine() {
  const sent: ServerFrame[] = [];
  const state = { waitingBytes: 0, isOpen: true, isHalfOpen: false };
  const session = createSession(
    {
      reachedSeq: 0,
      probe(seq) {
        if (!state.isHalfOpen) this.reachedSeq = seq;
      },
      send: (frame) => void sent.push(frame),
      waitingBytes: () => state.waitingBytes,
      end: () => {
        state.isOpen = false;
      },
      isOpen: () => state.isOpen,
    },
    { address: "203.0.113.1", key: "wk_test", origin: undefined },
  );
  return { session, sent, state, places: () => sent.flatMap(({ type, seq }) => (type === "reply" ? [seq] : [])) };
}

const upTo = (seq: number) => Array.from({ length: seq }, (_, index) => index + 1);

/** Calls `tick` as if once a second, until the condition is met. */
const tickUntil = (rooms: ReturnType<typeof createChatRooms>, what: string, isSo: () => boolean) =>
  waitFor(
    () => {
      rooms.tick();
      return isSo();
    },
    { what },
  );

describe("two connections of one conversation, of which one reads slowly", () => {
  test("each get everything, in order, even if the slow one becomes ready while entries for the other are read", async () => {
    const chat = createChat();
    const [slow, other] = [createLine(), createLine()];
    chat.growTo(20);
    for (const line of [slow, other]) await chat.greet(line.session, 0);
    await tickUntil(chat.rooms, "the beginning", () => slow.places().length === 20 && other.places().length === 20);
    slow.state.waitingBytes = MUCH;
    chat.growTo(25);
    await tickUntil(chat.rooms, "what is new", () => other.places().length === 25);
    chat.growTo(27);
    chat.whileReading(() => {
      slow.state.waitingBytes = 0;
    });
    await tickUntil(chat.rooms, "all of it in both", () => slow.places().at(-1) === 27 && other.places().at(-1) === 27);
    expect(slow.places()).toEqual(upTo(27));
    expect(other.places()).toEqual(upTo(27));
  });

  test("get no later entry before one that cannot be sent yet", async () => {
    const chat = createChat();
    const line = createLine();
    await chat.greet(line.session, 0);
    await tickUntil(chat.rooms, "ready", () => line.sent.some(({ type }) => type === "ready"));
    chat.growTo(3);
    chat.whileReading(() => {
      line.state.waitingBytes = MUCH;
    });
    const other = createLine();
    await chat.greet(other.session, 0);
    await tickUntil(chat.rooms, "all of it in the other", () => other.places().length === 3);
    expect(line.places()).toEqual([]);
    line.state.waitingBytes = 0;
    await tickUntil(chat.rooms, "all of it", () => line.places().length === 3);
    expect(line.places()).toEqual(upTo(3));
  });
});

describe("replies are recorded as delivered", () => {
  test("from the first one that a connection was sent, if it requested only new entries", async () => {
    const chat = createChat();
    const line = createLine();
    chat.growTo(5);
    await chat.greet(line.session, Number.POSITIVE_INFINITY);
    await tickUntil(chat.rooms, "ready", () => line.sent.some(({ type }) => type === "ready"));
    chat.growTo(7);
    await tickUntil(chat.rooms, "the note", () => chat.confirmed.length > 0);
    expect(chat.confirmed).toEqual([{ after: 5, upTo: 7 }]);
  });

  test("including earlier ones, if its hello reports that it has them", async () => {
    const chat = createChat();
    const line = createLine();
    chat.growTo(5);
    await chat.greet(line.session, 3);
    await tickUntil(chat.rooms, "the note", () => chat.confirmed.at(-1)?.upTo === 5);
    chat.growTo(6);
    await tickUntil(chat.rooms, "the next note", () => chat.confirmed.at(-1)?.upTo === 6);
    expect(chat.confirmed.map(({ after }) => after)).toEqual([
      0,
      ...chat.confirmed.slice(0, -1).map(({ upTo }) => upTo),
    ]);
  });
});

test("replies are not recorded as delivered until the client proves that it has them", async () => {
  const chat = createChat();
  const [halfOpen, other] = [createLine(), createLine()];
  halfOpen.state.isHalfOpen = true;
  await chat.greet(halfOpen.session, 0);
  chat.growTo(2);
  await tickUntil(chat.rooms, "both replies", () => halfOpen.places().length === 2);
  for (let tick = 0; tick < 3; tick++) chat.rooms.tick();
  expect(chat.confirmed).toEqual([]);
  // The browser reconnects, and reports its position.
  await chat.greet(other.session, 1);
  await tickUntil(chat.rooms, "the record of the second line", () => chat.confirmed.length > 0);
  expect(chat.confirmed).toEqual([{ after: 0, upTo: 2 }]);
});

test("a closed connection joins no conversation, whatever it has sent before", async () => {
  const chat = createChat();
  const [gone, other] = [createLine(), createLine()];
  await chat.greet(gone.session, 0);
  await tickUntil(chat.rooms, "ready", () => gone.sent.length > 0);
  gone.state.isOpen = false;
  chat.rooms.leave(gone.session);
  const sentBefore = gone.sent.length;
  // Frames sent before the close are processed after it, with and without a visitor.
  await chat.greet(gone.session, 0);
  await chat.greetAgain(gone.session);
  await chat.greet(other.session, 0);
  chat.growTo(2);
  await tickUntil(chat.rooms, "the other line to be told", () => other.places().length === 2);
  expect(gone.sent).toHaveLength(sentBefore);
});
