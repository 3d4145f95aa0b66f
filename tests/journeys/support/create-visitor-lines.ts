import { randomUUID } from "node:crypto";
import { openIoSocket, openPlainSocket } from "./open-visitor-socket.ts";
import type { IoSocket, VisitorOptions, VisitorSocket } from "./open-visitor-socket.ts";
import { WIDGET_KEY } from "./start-widget.ts";

/** How a line is opened, and to which replica of the widget: the first one where it does not say, or the URL of a proxy. */
export type LineOptions = Partial<VisitorOptions> & { replica?: number; url?: string };

/** Opens a line of a visitor and says hello, in one of the ways that there are. */
export type OpenLine = (visitorId: string, sinceSeq?: number, options?: LineOptions) => VisitorSocket;

/** Another replica than the first one, where there is one. */
export const OTHER = 1;

/** What a visitor asks who asks anything. */
export const QUESTION = "How do I start the service?";

/** Opens lines of visitors; `urls` answers where the widget is. */
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
    /** All ways to open a line, by name. */
    openers: {
      "a plain WebSocket": hello,
      "socket.io by WebSocket": overIo(["websocket"]),
      "socket.io by HTTP alone": overIo(["polling"]),
      "socket.io as it is": overIo(),
    } satisfies Record<string, OpenLine>,
    /** Closes every line of the test. To be called in `afterEach`. */
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

/** Places of what was said, in the order in which it came. */
export const positionsOf = ({ frames }: VisitorSocket) =>
  frames.flatMap(({ type, seq }) => (type === "reply" || type === "message" ? [seq] : []));

/** The data of the last frame of a type. */
export const lastOf = (visitor: VisitorSocket, type: string) =>
  visitor.frames.findLast((frame) => frame.type === type)?.data;

/** The codes of all errors that a line was told. */
export const errorsOf = ({ frames }: VisitorSocket) =>
  frames.flatMap((frame) => (frame.type === "error" ? [frame.data.code] : []));
