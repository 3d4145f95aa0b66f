import { createServer } from "node:http";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { ServerFrameData, ServerFrameType, VisitorMessage, WidgetConfigAnswer } from "@svc/contracts";
import { waitFor } from "@svc/testing";
import { Server } from "socket.io";
import type { Socket } from "socket.io";
import { WebSocket } from "ws";
import { openStorage } from "../storage.ts";
import type { StorageHost } from "../storage.ts";
import { createWidgetStore } from "./create-widget-store.ts";
import type { ManagedStore } from "./create-widget-store.ts";
import type { StoreOptions } from "./store-core.ts";
import { openSocket } from "./open-socket.ts";

const API_KEY = "svc_widget_test";
const CONFIG: WidgetConfigAnswer = {
  theme: "auto",
  color: "#3366ff",
  position: "bottom-right",
  locale: "en",
  dir: "ltr",
  title: "",
  greeting: "",
  expectedReply: "",
  strings: {},
  questions: [],
  languages: {},
  logo: "",
  features: { upload: true, rating: true, person: true, sound: false, prechat: [], identity: false },
};

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Row {
  seq: number;
  visitorId: string;
  message?: VisitorMessage;
  reply?: string;
}

/** A widget server of one process, with its stored messages and configurable failures. */
async function startServer() {
  const rows: Row[] = [];
  /** Every received message frame, including repetitions. */
  const frames: string[] = [];
  const urls: string[] = [];
  /**
   * The sequence numbers from which connections have requested missed replies, without the first hello of each
   * connection.
   */
  const hellos: number[] = [];
  const heard: { type: string; data: unknown }[] = [];
  const errors = new Map<string, { code: string; retryAfterSeconds?: number }>();
  let lets: "everything" | "http" = "everything";
  let refusal: { status: number; code: string } | null = null;
  let canAck = true;
  let http: HttpServer;
  let io: Server;
  let port = 0;

  function send<Type extends ServerFrameType>(
    to: Pick<Socket, "emit">,
    type: Type,
    seq: number,
    data: ServerFrameData<Type>,
  ) {
    to.emit(type, { v: 1, type, id: `id-${type}-${seq}`, seq, ts: new Date().toISOString(), data });
  }
  function sendRow(to: Pick<Socket, "emit">, { seq, message, reply }: Row) {
    const createdAt = new Date().toISOString();
    if (message !== undefined) {
      const { clientMessageId, text } = message;
      send(to, "message", seq, { messageId: `m${seq}`, clientMessageId, text, attachments: [], createdAt });
    } else if (reply !== undefined) {
      const items = [{ type: "message" as const, text: reply, markdown: true }];
      send(to, "reply", seq, { items, author: "agent", inReplyTo: null, createdAt });
    }
  }

  function onConnection(socket: Socket) {
    const { visitorId } = socket.handshake.auth as { visitorId: string };
    const own = () => rows.filter((row) => row.visitorId === visitorId);
    const greet = (sinceSeq: number) => {
      send(socket, "ready", 0, { chatId: `v_${visitorId}`, lastSeq: own().at(-1)?.seq ?? 0 });
      for (const row of own()) if (row.seq > sinceSeq) sendRow(socket, row);
      send(socket, "status", 0, { state: "open", rating: null });
    };
    void socket.join(visitorId);
    greet((socket.handshake.auth as { sinceSeq: number }).sinceSeq);
    socket.onAny((type: string, { data }: { data: { sinceSeq: number } }) => {
      if (type === "hello") {
        hellos.push(data.sinceSeq);
        greet(data.sinceSeq);
      } else heard.push({ type, data });
    });
    socket.on("message", ({ data }: { data: VisitorMessage }) => {
      const { clientMessageId } = data;
      frames.push(clientMessageId);
      const error = errors.get(data.text);
      if (error !== undefined) {
        errors.delete(data.text);
        return send(socket, "error", 0, { ...error, detail: "", clientMessageId });
      }
      let row = own().find(({ message }) => message?.clientMessageId === clientMessageId);
      if (row === undefined) {
        row = { seq: (rows.at(-1)?.seq ?? 0) + 1, visitorId, message: data };
        rows.push(row);
        sendRow(socket.to(visitorId), row);
      }
      if (canAck) send(socket, "ack", 0, { clientMessageId, messageId: `m${row.seq}`, seq: row.seq });
    });
  }

  async function listen() {
    http = createServer((request, response) => {
      urls.push(request.url ?? "");
      response.setHeader("Access-Control-Allow-Origin", "*").setHeader("Content-Type", "application/problem+json");
      response.statusCode = refusal?.status ?? 200;
      response.end(JSON.stringify({ code: refusal?.code }));
    });
    io = new Server(http, {
      path: "/api/widget/ws",
      addTrailingSlash: false,
      serveClient: false,
      allowRequest: (request, decide) => {
        urls.push(request.url ?? "");
        decide(null, refusal === null && (lets === "everything" || request.headers.upgrade === undefined));
      },
    });
    io.on("connection", onConnection);
    await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
    port = (http.address() as AddressInfo).port;
  }
  async function close() {
    await io.close();
  }
  await listen();
  endings.push(close);
  return {
    base: `http://127.0.0.1:${port}/`,
    rows,
    frames,
    urls,
    hellos,
    heard,
    faults: errors,
    listen,
    close,
    refuse(status: number, code: string) {
      refusal = { status, code };
      io.disconnectSockets(true);
    },
    /** Like a proxy without support for WebSockets. */
    letThrough(what: "everything" | "http") {
      lets = what;
      io.disconnectSockets(true);
    },
    setAcks(on: boolean) {
      canAck = on;
    },
    cut: () => io.disconnectSockets(true),
    sockets: () => io.sockets.sockets.size,
    /** Stores a reply; only open sockets are notified. */
    reply(text: string, visitorId = rows.at(-1)?.visitorId ?? "") {
      const row = { seq: (rows.at(-1)?.seq ?? 0) + 1, visitorId, reply: text };
      rows.push(row);
      sendRow(io.to(visitorId), row);
      return row.seq;
    },
    sendAll: <Type extends ServerFrameType>(type: Type, data: ServerFrameData<Type>) => send(io, type, 0, data),
    texts: () => rows.flatMap(({ message }) => message?.text ?? []),
  };
}

/** The localStorage of a browser, with the tabs that share it. */
function createBrowser() {
  const kept = new Map<string, string>();
  const tabs = new Set<(event: StorageEvent) => void>();
  let chain = Promise.resolve<unknown>(undefined);
  const locks = {
    request(_name: string, work: () => void) {
      chain = chain.then(work);
      return chain;
    },
  };
  function openTab(): StorageHost {
    let own: ((event: StorageEvent) => void) | null = null;
    const tell = (key: string) => {
      for (const tab of tabs) if (tab !== own) queueMicrotask(() => tabs.has(tab) && tab({ key } as StorageEvent));
    };
    const methods = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem(key: string, value: string) {
        kept.set(key, value);
        tell(key);
      },
      removeItem(key: string) {
        if (kept.delete(key)) tell(key);
      },
    };
    const localStorage = new Proxy(methods, {
      ownKeys: () => [...kept.keys()],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    }) as unknown as globalThis.Storage;
    return {
      localStorage,
      addEventListener(_type, listener) {
        own = listener;
        tabs.add(listener);
      },
      removeEventListener: (_type, listener) => void tabs.delete(listener),
    };
  }
  return { kept, openTab, locks };
}

type Browser = ReturnType<typeof createBrowser>;

function open(base: string, browser: Browser, changes: Partial<StoreOptions> = {}) {
  const events: { name: string; detail: unknown }[] = [];
  const store = createWidgetStore({
    base,
    apiKey: API_KEY,
    config: CONFIG,
    storage: openStorage(browser.openTab(), API_KEY),
    tab: openStorage(createBrowser().openTab(), API_KEY),
    identity: null,
    locale: () => "en",
    page: () => ({ url: "https://shop.example/cart#secret", title: "Cart" }),
    emit: (name, detail) => void events.push({ name, detail }),
    locks: browser.locks,
    openSocket: (address) => openSocket(address, (url) => new WebSocket(url) as unknown as globalThis.WebSocket),
    loadHttp: () => import("./open-http-socket.ts"),
    // Reconnects follow quickly after each other.
    random: () => 0.02,
    ...changes,
  });
  endings.push(() => store.stop());
  return { store, events, actions: store.actions, texts: () => textsOf(store), states: () => statesOf(store) };
}

const textsOf = (store: ManagedStore) =>
  store.get().entries.map((entry) => {
    if (entry.kind === "visitor") return entry.text;
    return entry.item.type === "message" ? `> ${entry.item.text}` : `> file ${entry.item.file.filename}`;
  });
const statesOf = (store: ManagedStore) =>
  store.get().entries.flatMap((entry) => (entry.kind === "visitor" ? [entry.state] : []));
const until = (what: string, check: () => boolean) => waitFor(check, { what });
const online = ({ store }: { store: ManagedStore }) => until("the line", () => store.get().line === "online");

describe("a conversation", () => {
  test("starts when it is first opened, and no URL ever contains the visitor's secret", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = open(server.base, browser);
    expect(browser.kept.size).toBe(0);
    expect(tab.store.get().line).toBe("idle");
    tab.actions.open();
    await online(tab);
    const visitorId = JSON.parse(browser.kept.get(`svc:${API_KEY}:visitor`) ?? "null") as string;
    expect(visitorId).toMatch(/^[0-9a-f-]{36}$/);
    expect(server.urls.length).toBeGreaterThan(0);
    expect(server.urls.filter((url) => url.includes(visitorId))).toEqual([]);
  });

  test("shows a message immediately, marks it as sent when it is stored, and shows the reply with its previous unfinished text", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.open();
    await online(tab);
    tab.actions.send(" Where is my parcel?\0\ud800 ");
    expect(tab.states()).toEqual(["sending"]);
    await until("the ack", () => tab.states()[0] === "sent");
    expect(server.rows[0]?.message).toMatchObject({
      text: "Where is my parcel?",
      locale: "en",
      page: { url: "https://shop.example/cart", title: "Cart" },
    });
    server.sendAll("typing", { on: true });
    server.sendAll("delta", { messageId: "m1", offset: 0, text: "It is " });
    server.sendAll("delta", { messageId: "m1", offset: 6, text: "on its way" });
    await until("the partial text", () => tab.store.get().partial === "It is on its way");
    expect(tab.store.get().isTyping).toBe(true);
    server.reply("It is on its way.");
    await until("the reply", () => tab.texts().length === 2);
    expect(tab.texts()).toEqual(["Where is my parcel?", "> It is on its way."]);
    expect(tab.store.get()).toMatchObject({ partial: null, unread: 1 });
    expect(tab.events.filter(({ name }) => name === "message").map(({ detail }) => detail)).toMatchObject([
      { role: "visitor", text: "Where is my parcel?" },
      { role: "agent", text: "It is on its way." },
    ]);
  });

  test("appears after a reload before the server responds, followed by what arrived meanwhile", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const before = open(server.base, browser);
    before.actions.send("One");
    await until("the ack", () => before.states()[0] === "sent");
    server.reply("Two");
    await until("the reply", () => before.texts().length === 2);
    before.actions.markRead();
    before.store.stop();
    server.reply("Three");
    const after = open(server.base, browser);
    expect(after.texts()).toEqual(["One", "> Two"]);
    await until("what was missed", () => after.texts().length === 3);
    expect(after.texts()).toEqual(["One", "> Two", "> Three"]);
    expect(after.store.get().unread).toBe(1);
    expect(after.events.filter(({ name }) => name === "message")).toHaveLength(1);
  });

  test("starts anew if the server does not know the stored conversation", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const before = open(server.base, browser);
    before.actions.send("Lost");
    await until("the ack", () => before.states()[0] === "sent");
    server.reply("Lost too");
    await until("the reply", () => before.texts().length === 2);
    before.store.stop();
    const [first] = server.rows.splice(0);
    server.rows.push({ seq: 1, visitorId: first?.visitorId ?? "", reply: "Kept" });
    const after = open(server.base, browser);
    await until("the other history", () => after.texts().join() === "> Kept");
  });

  test("continues in a second tab, with what the first one wrote and read", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const first = open(server.base, browser);
    first.actions.send("From one");
    await until("the ack", () => first.states()[0] === "sent");
    const second = open(server.base, browser);
    await until("the history", () => second.texts().length === 1);
    second.actions.send("From two");
    await until("both in both", () => first.texts().length === 2 && second.states().join() === "sent,sent");
    server.reply("To both");
    await until("the reply", () => first.texts().length === 3 && second.texts().length === 3);
    expect([first.store.get().unread, second.store.get().unread]).toEqual([1, 1]);
    first.actions.markRead();
    await until("read in both", () => second.store.get().unread === 0);
    expect(server.frames).toHaveLength(2);
  });
});

describe("a dropped connection", () => {
  test("keeps messages typed meanwhile and sends them once, in order, when the server recovers", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.send("One");
    await until("the ack", () => tab.states()[0] === "sent");
    await server.close();
    await until("the line to be down", () => tab.store.get().line === "offline");
    for (const text of ["Two", "Three", "Four"]) tab.actions.send(text);
    expect(tab.states()).toEqual(["sent", "waiting", "waiting", "waiting"]);
    await server.listen();
    await until("all to be sent", () => tab.states().every((state) => state === "sent"));
    expect(server.texts()).toEqual(["One", "Two", "Three", "Four"]);
    expect(tab.texts()).toEqual(["One", "Two", "Three", "Four"]);
    expect(server.frames).toHaveLength(4);
  });

  test("keeps typed messages over a reload, and another tab does not send them as well", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const watcher = open(server.base, browser);
    watcher.actions.open();
    await online(watcher);
    await server.close();
    const before = open(server.base, browser);
    before.actions.send("Typed offline");
    before.actions.send("And this");
    await until("a failed try", () => before.store.get().line === "offline");
    before.store.suspend();
    before.store.stop();
    const after = open(server.base, browser);
    const views = [watcher, after];
    await until("somebody to take them over", () => views.some((tab) => tab.texts().length === 2));
    await server.listen();
    await until("both in both tabs", () => views.every((tab) => tab.states().join() === "sent,sent"));
    expect(server.texts()).toEqual(["Typed offline", "And this"]);
    expect(server.frames).toHaveLength(2);
  });

  test("shows every message and every reply once, and in order, after 40 drops", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.open();
    await online(tab);
    for (let turn = 0; turn < 40; turn++) {
      tab.actions.send(`Question ${turn}`);
      if (turn % 3 === 0) server.cut();
      await until("the question to be stored", () => server.texts().includes(`Question ${turn}`));
      if (turn % 2 === 0) server.cut();
      server.reply(`Answer ${turn}`);
      if (turn % 5 === 0) server.cut();
    }
    await until("all to be there", () => tab.texts().length === 80 && tab.states().every((state) => state === "sent"));
    expect(tab.texts()).toEqual(server.rows.map(({ message, reply }) => message?.text ?? `> ${reply}`));
    expect(new Set(server.texts()).size).toBe(40);
    expect(server.texts()).toHaveLength(40);
  });

  test("requests what was lost on an open connection again, and treats what remains missing as erased", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.open();
    await online(tab);
    tab.actions.send("one");
    await until("the ack", () => tab.states()[0] === "sent");
    const visitorId = server.rows[0]?.visitorId ?? "";
    server.rows.push({ seq: 2, visitorId, reply: "lost" });
    server.reply("after it");
    await until("both replies", () => tab.texts().length === 3);
    expect(tab.texts()).toEqual(["one", "> lost", "> after it"]);
    server.rows.push({ seq: 9, visitorId: "somebody else", reply: "erased" });
    server.reply("behind the gap", visitorId);
    server.reply("and on", visitorId);
    await until("the replies behind it", () => tab.texts().length === 5);
    const lines = server.urls.length;
    server.cut();
    await until("another line", () => server.urls.length > lines && tab.store.get().line === "online");
    expect(tab.texts()).toEqual(["one", "> lost", "> after it", "> behind the gap", "> and on"]);
  });

  test("requests missing entries once, however much arrives meanwhile", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.send("one");
    await until("the ack", () => tab.states()[0] === "sent");
    const visitorId = server.rows[0]?.visitorId ?? "";
    server.rows.push({ seq: 9, visitorId: "somebody else", reply: "erased" });
    const replies = Array.from({ length: 50 }, (_, index) => `reply ${index}`);
    for (const text of replies) server.reply(text, visitorId);
    await until("all replies", () => tab.texts().length === 51);
    server.reply("the last one", visitorId);
    await until("the last reply", () => tab.texts().length === 52);
    expect(tab.texts().slice(1, -1)).toEqual(replies.map((text) => `> ${text}`));
    expect(server.hellos).toEqual([0]);
  });

  test("uses HTTP if WebSockets are rejected, and a WebSocket again if they work", async () => {
    const server = await startServer();
    server.letThrough("http");
    let loads = 0;
    const tab = open(server.base, createBrowser(), {
      loadHttp() {
        loads++;
        return import("./open-http-socket.ts");
      },
    });
    tab.actions.send("One");
    await until("the ack", () => tab.states()[0] === "sent");
    server.reply("Two");
    await until("the reply", () => tab.texts().length === 2);
    const refused = server.urls.filter((url) => url.includes("transport=websocket") && !url.includes("sid="));
    expect(refused.length).toBeGreaterThanOrEqual(2);
    // A failure while it is being loaded asks for it again; browsers load a module once.
    expect(loads).toBeGreaterThan(0);
    const before = server.urls.length;
    server.letThrough("everything");
    tab.actions.send("Three");
    await until("the next ack", () => tab.states().join() === "sent,sent");
    expect(server.urls.slice(before).some((url) => url.includes("transport=websocket"))).toBe(true);
    expect(tab.texts()).toEqual(["One", "> Two", "Three"]);
    expect(server.texts()).toEqual(["One", "Three"]);
  });

  test("does not load HTTP long polling for a visitor whose WebSocket works", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser(), {
      loadHttp: () => Promise.reject(new Error("It is not needed.")),
    });
    tab.actions.open();
    await online(tab);
    server.cut();
    await until("another line", () => server.urls.length === 2 && server.sockets() === 1);
    expect(server.urls.filter((url) => url.includes("polling"))).toEqual([]);
  });

  test("is closed and restored with the page, and stays closed meanwhile", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.send("One");
    await until("the ack", () => tab.states()[0] === "sent");
    tab.store.suspend();
    await until("no line", () => server.sockets() === 0);
    server.reply("Two");
    tab.store.resume();
    await until("what came meanwhile", () => tab.texts().length === 2);
  });
});

describe("a rejected message", () => {
  test("is shown as failed, is not sent automatically, and can be sent again or discarded", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = open(server.base, browser);
    server.faults.set("Bad", { code: "invalid_request" });
    server.faults.set("Worse", { code: "invalid_request" });
    for (const text of ["Bad", "Worse", "Good"]) tab.actions.send(text);
    await until("the others to be settled", () => tab.states().join() === "sent,failed,failed");
    expect(server.texts()).toEqual(["Good"]);
    const failed = tab.store.get().entries.slice(1);
    expect(failed).toMatchObject([{ fault: "faultRefused" }, { fault: "faultRefused" }]);
    tab.store.stop();
    const after = open(server.base, browser);
    await until("the failed ones", () => after.states().join() === "sent,failed,failed");
    after.actions.retry(failed[0]?.key ?? "");
    after.actions.discard(failed[1]?.key ?? "");
    await until("the retry", () => after.states().join() === "sent,sent");
    expect(server.texts()).toEqual(["Good", "Bad"]);
  });

  test("is sent again automatically, before later ones, if the server only asked to wait", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    server.faults.set("One", { code: "rate_limited", retryAfterSeconds: 0.05 });
    tab.actions.send("One");
    tab.actions.send("Two");
    await until("both", () => tab.states().join() === "sent,sent");
    expect(server.texts()).toEqual(["One", "Two"]);
  });

  test("is rejected in the browser if it is too long", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.send("😀".repeat(10_000));
    tab.actions.send("x".repeat(10_001));
    await until("the first", () => tab.states().join() === "sent,failed");
    expect(tab.store.get().entries[1]).toMatchObject({ fault: "faultTooLong" });
    expect(server.frames).toHaveLength(1);
  });
});

describe("a visitor", () => {
  test("who logs out leaves no data in any tab", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = open(server.base, browser);
    const other = open(server.base, browser);
    tab.actions.send("Secret");
    other.actions.open();
    await until("the other tab", () => other.texts().includes("Secret") && tab.states()[0] === "sent");
    tab.store.logout();
    expect(tab.texts()).toEqual([]);
    await until("the other tab to forget", () => other.texts().length === 0);
    expect([...browser.kept.values()].join()).not.toContain("Secret");
    tab.actions.send("Another person");
    await until("the ack", () => tab.states().join() === "sent");
    expect(new Set(server.rows.map(({ visitorId }) => visitorId)).size).toBe(2);
  });

  test("who logs out in one tab is signed out in the other one too", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const identity = { userId: "anna", userHash: "0".repeat(64) };
    const features = { ...CONFIG.features, identity: true };
    const changes = { identity, config: { ...CONFIG, features } };
    const tab = open(server.base, browser, changes);
    const other = open(server.base, browser, changes);
    tab.actions.send("Anna's");
    other.actions.open();
    await until("the other tab", () => other.texts().includes("Anna's"));
    tab.store.logout();
    await until("the other tab to be refused", () => other.store.get().refusal === "refusedIdentity");
    expect(other.texts()).toEqual([]);
  });

  test("who has logged out elsewhere is not stored again by a tab that has not been notified yet", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = open(server.base, browser);
    tab.actions.send("Secret");
    await until("the ack", () => tab.states()[0] === "sent");
    for (const name of ["visitor", "user", "history"]) browser.kept.delete(`svc:${API_KEY}:${name}`);
    // Pending writes are made now.
    tab.store.suspend();
    expect([...browser.kept.values()].join()).not.toContain("Secret");
  });

  test("whose page clears the storage continues the conversation, and finds it after a reload", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = open(server.base, browser);
    tab.actions.send("Before");
    await until("the ack", () => tab.states()[0] === "sent");
    browser.kept.clear();
    server.cut();
    tab.actions.send("After");
    await until("the next ack", () => tab.states().join() === "sent,sent");
    expect(new Set(server.rows.map(({ visitorId }) => visitorId)).size).toBe(1);
    tab.store.suspend();
    expect(open(server.base, browser).texts()).toEqual(["Before", "After"]);
  });

  test("who is another user than before does not see that user's conversation", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const before = open(server.base, browser, { identity: { userId: "anna" } });
    before.actions.send("Anna's");
    await until("the ack", () => before.states()[0] === "sent");
    before.store.stop();
    expect(open(server.base, browser, { identity: { userId: "anna" } }).texts()).toEqual(["Anna's"]);
    const other = open(server.base, browser, { identity: { userId: "ben" } });
    expect(other.texts()).toEqual([]);
    other.actions.send("Ben's");
    await until("the ack", () => other.states()[0] === "sent");
    expect(other.texts()).toEqual(["Ben's"]);
  });

  test("without an identity is not connected if one is required, and is connected once the page provides it", async () => {
    const server = await startServer();
    const features = { ...CONFIG.features, identity: true };
    const tab = open(server.base, createBrowser(), { config: { ...CONFIG, features } });
    tab.actions.open();
    expect(tab.store.get()).toMatchObject({ line: "refused", refusal: "refusedIdentity" });
    expect(tab.events).toEqual([{ name: "error", detail: { code: "invalid_identity" } }]);
    tab.store.identify({ userId: "anna", userHash: "0".repeat(64) });
    await online(tab);
  });

  test("hears no sound before enabling it, which this browser stores", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const features = { ...CONFIG.features, sound: true };
    const tab = open(server.base, browser, { config: { ...CONFIG, features } });
    expect(tab.store.get().hasSound).toBe(false);
    tab.actions.setSound(true);
    expect(tab.store.get().hasSound).toBe(true);
    expect(open(server.base, browser, { config: { ...CONFIG, features } }).store.get().hasSound).toBe(true);
  });

  test("is asked only once for the contact data of the form, which is sent with the message", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const features = { ...CONFIG.features, prechat: ["name" as const] };
    const tab = open(server.base, browser, { config: { ...CONFIG, features } });
    expect(tab.store.get().needsContact).toBe(true);
    tab.actions.introduce({ name: "Anna" });
    expect(tab.store.get().needsContact).toBe(false);
    tab.actions.send("Hello");
    await until("the ack", () => tab.states()[0] === "sent");
    tab.actions.send("And");
    await until("the second", () => server.rows.length === 2);
    expect(server.rows.map(({ message }) => message?.contact)).toEqual([{ name: "Anna" }, undefined]);
  });

  test("notifies the server of read replies, ratings and typing, including those from offline periods", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.send("Hello");
    await until("the ack", () => tab.states()[0] === "sent");
    server.reply("Hi");
    await until("the reply", () => tab.texts().length === 2);
    tab.actions.noteTyping();
    tab.actions.noteTyping();
    await until("the typing", () => server.heard.some(({ type }) => type === "typing"));
    await server.close();
    await until("the line to be down", () => tab.store.get().line === "offline");
    tab.actions.markRead();
    tab.actions.rate(5, " Thanks ");
    expect(tab.store.get()).toMatchObject({ rating: 5, unread: 0 });
    await server.listen();
    await until("the rating", () => server.heard.some(({ type }) => type === "rate"));
    expect(server.heard.filter(({ type }) => type !== "message")).toEqual([
      { type: "typing", data: { on: true } },
      { type: "read", data: { seq: 2 } },
      { type: "rate", data: { score: 5, comment: "Thanks" } },
    ]);
  });
});

describe("a rating", () => {
  const rates = ({ heard }: { heard: { type: string }[] }) => heard.filter(({ type }) => type === "rate").length;

  /** Starts a visitor who has sent a message and is connected. */
  async function begin() {
    const server = await startServer();
    const browser = createBrowser();
    const tab = open(server.base, browser);
    tab.actions.send("Hello");
    await until("the ack", () => tab.states()[0] === "sent");
    return { server, browser, tab };
  }

  test("is sent until the server confirms it", async () => {
    const { server, tab } = await begin();
    tab.actions.rate(4);
    await until("the rating", () => rates(server) === 1);
    server.cut();
    await until("the rating again", () => rates(server) === 2);
    expect(tab.store.get().rating).toBe(4);
    server.sendAll("status", { state: "done", rating: 4 });
    await until("the word of the server", () => tab.store.get().conversation === "done");
    const lines = server.urls.length;
    server.cut();
    await until("another line", () => server.urls.length > lines && tab.store.get().conversation === "open");
    tab.actions.send("And on");
    await until("what was sent after it", () => server.texts().includes("And on"));
    expect(rates(server)).toBe(2);
  });

  test("that was rejected can be given again, on the same connection", async () => {
    const { server, tab } = await begin();
    tab.actions.rate(1);
    expect(tab.store.get().rating).toBe(1);
    server.sendAll("error", { code: "not_found", detail: "", clientMessageId: null });
    await until("no rating", () => tab.store.get().rating === null);
    expect(tab.store.get().line).toBe("online");
    tab.actions.rate(2);
    await until("the other rating", () => rates(server) === 2);
  });

  test("given offline is sent after a reload", async () => {
    const { server, browser, tab } = await begin();
    await server.close();
    await until("the line to be down", () => tab.store.get().line === "offline");
    tab.actions.rate(3, "Slow");
    tab.store.suspend();
    await server.listen();
    const after = open(server.base, browser);
    expect(after.store.get().rating).toBe(3);
    await until("the rating", () => rates(server) === 1);
    expect(server.heard.at(-1)).toEqual({ type: "rate", data: { score: 3, comment: "Slow" } });
  });
});

describe("a connection that the server rejects", () => {
  test.each([
    [404, "not_found", "refusedKey"],
    [403, "origin_not_allowed", "refusedOrigin"],
  ])("stays closed after %s %s, with the reason %s", async (status, code, refusal) => {
    const server = await startServer();
    server.refuse(status, code);
    const tab = open(server.base, createBrowser());
    tab.actions.open();
    await until("the refusal", () => tab.store.get().line === "refused");
    expect(tab.store.get().refusal).toBe(refusal);
    expect(tab.events).toEqual([{ name: "error", detail: { code } }]);
  });

  test("is attempted again if only an intermediary rejects it", async () => {
    const server = await startServer();
    server.refuse(403, "a_hotel");
    const tab = open(server.base, createBrowser());
    tab.actions.open();
    // Two attempts over WebSockets, then one over HTTP; with a probe after each except the first.
    await until("several tries", () => server.urls.filter((url) => url.startsWith("/api/widget/config/")).length > 2);
    expect(tab.store.get().line).toBe("offline");
    expect(server.urls.some((url) => url.includes("transport=polling"))).toBe(true);
  });

  test("stays closed if the key is revoked while it is open", async () => {
    const server = await startServer();
    const tab = open(server.base, createBrowser());
    tab.actions.open();
    await online(tab);
    server.sendAll("error", { code: "invalid_key", detail: "", clientMessageId: null });
    await until("the refusal", () => tab.store.get().refusal === "refusedKey");
    expect(tab.events).toEqual([{ name: "error", detail: { code: "invalid_key" } }]);
    await until("no line", () => server.sockets() === 0);
  });
});

describe("a page that is loaded again", () => {
  test("has the text that was being written, and the panel open, in this tab alone", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = openStorage(createBrowser().openTab(), API_KEY);
    const before = open(server.base, browser, { tab });
    before.actions.open();
    before.actions.keepDraft("Where is my");
    before.store.stop();
    const after = open(server.base, browser, { tab });
    expect(after.store.get().isOpen).toBe(true);
    expect(after.actions.draft()).toBe("Where is my");
    await online(after);
    const other = open(server.base, browser);
    expect([other.store.get().isOpen, other.actions.draft()]).toEqual([false, ""]);
    after.actions.close();
    expect(open(server.base, browser, { tab }).store.get().isOpen).toBe(false);
  });

  test("shows nothing that another visitor or another conversation began", async () => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = openStorage(createBrowser().openTab(), API_KEY);
    const before = open(server.base, browser, { tab, identity: { userId: "ann" } });
    before.actions.keepDraft("My salary is");
    before.store.stop();
    // A page without the logged-out visitor, as another tab leaves it.
    const other = open(server.base, browser);
    other.store.logout();
    other.store.stop();
    const after = open(server.base, browser, { tab });
    expect(after.actions.draft()).toBe("");
    after.actions.keepDraft("Hello");
    after.actions.openChat(2);
    expect(after.actions.draft()).toBe("");
    after.store.logout();
    expect(tab.read("draft")).toBeNull();
  });
});

describe("a browser with unusable or invalid storage", () => {
  test.each(["blocked", "full"])("has a conversation until the page is left: storage %s", async (kind) => {
    const server = await startServer();
    const browser = createBrowser();
    const tab = browser.openTab();
    const refuse = () => {
      throw new Error("QuotaExceededError");
    };
    const host: StorageHost = {
      ...tab,
      get localStorage() {
        if (kind === "blocked") return refuse();
        return { getItem: () => null, setItem: refuse, removeItem: () => undefined } as unknown as globalThis.Storage;
      },
    };
    const { store, actions, states, texts } = open(server.base, browser, { storage: openStorage(host, API_KEY) });
    actions.send("Hello");
    await until("the ack", () => states()[0] === "sent");
    server.cut();
    server.reply("Hi");
    await until("the reply", () => texts().length === 2);
    expect(new Set(server.rows.map(({ visitorId }) => visitorId)).size).toBe(1);
    expect(store.get().line).not.toBe("refused");
  });

  test("ignores invalid stored values", async () => {
    const server = await startServer();
    const browser = createBrowser();
    for (const rubbish of [
      "{",
      "null",
      "[]",
      '{"entries":[{"kind":"reply"}],"sinceSeq":-1}',
      '"x"',
      '{"entries":{}}',
      '{"name":{},"email":"a@b.example"}',
    ]) {
      for (const name of ["visitor", "history", "out:dead", "sound", "contact", "user", "draft", "open"])
        browser.kept.set(`svc:${API_KEY}:${name}`, rubbish);
      const tab = open(server.base, browser, { tab: openStorage(browser.openTab(), API_KEY) });
      expect([tab.store.get().isOpen, tab.actions.draft()]).toEqual([false, ""]);
      tab.actions.send("Hello");
      await until("the ack", () => tab.states().includes("sent"));
      tab.store.stop();
    }
    // The server would reject a message with any other value.
    const contacts = server.rows.flatMap(({ message }) => message?.contact ?? []);
    expect(contacts).toEqual([{ email: "a@b.example" }]);
  });
});
