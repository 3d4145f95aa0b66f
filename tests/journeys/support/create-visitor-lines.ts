import { randomUUID } from "node:crypto";
import { openIoSocket, openPlainSocket } from "./open-visitor-socket.ts";
import type { IoSocket, VisitorOptions, VisitorSocket } from "./open-visitor-socket.ts";
import { WIDGET_KEY } from "./start-widget.ts";

/** Options of a connection, and the replica of the widget: the first one by default, or the URL of a proxy. */
export type LineOptions = Partial<VisitorOptions> & { replica?: number; url?: string };

/** Opens a visitor's connection and sends `hello`, over one of the transports. */
export type OpenLine = (visitorId: string, sinceSeq?: number, options?: LineOptions) => VisitorSocket;

/** Index of another replica than the first one, if there are several. */
export const OTHER = 1;

/** Question of a visitor. */
export const QUESTION = "How do I start the service?";

/** Opens connections of visitors; `urls` returns the URLs of the widget. */
export function createVisitorLines(urls: () => readonly string[]) {
  const open: VisitorSocket[] = [];
  const urlOf = (replica = 0) => urls()[replica] ?? urls()[0] ?? "";

  function plain({ replica, url = urlOf(replica), ...options }: LineOptions = {}): VisitorSocket {
    const socket = openPlainSocket(url, { apiKey: WIDGET_KEY, ...options });
    open.push(socket);
    return socket;
  }

  function socketIo({ replica, url = urlOf(replica), ...options }: LineOptions = {}) {
    const socket = openIoSocket(url, { apiKey: WIDGET_KEY, ...options });
    open.push(socket);
    return socket;
  }

  const hello: OpenLine = (visitorId, sinceSeq = 0, options = {}) => {
    const socket = plain(options);
    socket.send("hello", { visitorId, sinceSeq });
    return socket;
  };
  const overIo =
    (transports?: VisitorOptions["transports"]) =>
    (visitorId: string, sinceSeq = 0, options: LineOptions = {}): IoSocket =>
      socketIo({ auth: { visitorId, sinceSeq }, ...(transports === undefined ? {} : { transports }), ...options });

  return {
    urlOf,
    plain,
    socketIo,
    hello,
    /** All transports, by name. */
    openers: {
      "a plain WebSocket": hello,
      "socket.io by WebSocket": overIo(["websocket"]),
      "socket.io by HTTP alone": overIo(["polling"]),
      "socket.io as it is": overIo(),
    } satisfies Record<string, OpenLine>,
    /** Closes every connection of the test. Must be called in `afterEach`. */
    closeAll() {
      for (const socket of open.splice(0)) socket.close();
    },
  };
}

/** Sends a message and waits until it is acknowledged. */
export async function say(visitor: VisitorSocket, text = QUESTION, more: object = {}) {
  const clientMessageId = randomUUID();
  visitor.send("message", { text, clientMessageId, ...more });
  return (await visitor.next("ack", ({ data }) => data.clientMessageId === clientMessageId)).data;
}

/** Returns the sequence numbers of messages and replies, in the order of arrival. */
export const positionsOf = ({ frames }: VisitorSocket) =>
  frames.flatMap(({ type, seq }) => (type === "reply" || type === "message" ? [seq] : []));

/** Returns the data of the last frame of a type. */
export const lastOf = (visitor: VisitorSocket, type: string) =>
  visitor.frames.findLast((frame) => frame.type === type)?.data;

/** Returns the codes of all errors that a connection has received. */
export const errorsOf = ({ frames }: VisitorSocket) =>
  frames.flatMap((frame) => (frame.type === "error" ? [frame.data.code] : []));
