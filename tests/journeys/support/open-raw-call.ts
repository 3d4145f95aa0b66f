import { connect } from "node:net";
import { once } from "node:events";

/** A call whose client can be as rude as clients are. */
export interface RawCall {
  /** Resolves when the first bytes of the answer are there. No more than what the socket holds is read. */
  answerBegins(): Promise<void>;
  /** Ends the connection at once, whatever is still on its way. */
  hangUp(): void;
}

/** Sends a request on a connection of its own, and reads nothing of the answer. */
export async function openRawCall(
  baseUrl: string,
  request: { key: string; project: string; json?: object; path?: string; headers?: Record<string, string> },
): Promise<RawCall> {
  const { hostname, port, host } = new URL(baseUrl);
  const body = request.json === undefined ? "" : JSON.stringify(request.json);
  const lines = [
    `${request.json === undefined ? "GET" : "POST"} ${request.path ?? "/api/v1/messages"} HTTP/1.1`,
    `Host: ${host}`,
    `X-Api-Key: ${request.key}`,
    `x-svc-project: ${request.project}`,
    ...Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(request.json === undefined
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  socket.pause();
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  return {
    async answerBegins() {
      await once(socket, "readable");
    },
    hangUp() {
      socket.destroy();
    },
  };
}
