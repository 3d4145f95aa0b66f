import { connect } from "node:net";
import { once } from "node:events";

/** A call whose client can disconnect at any time. */
export interface RawCall {
  /** Resolves when the first bytes of the response have arrived. Reads no more than the socket buffers. */
  answerBegins(): Promise<void>;
  /** Closes the connection immediately, whatever is still in transit. */
  hangUp(): void;
}

/** Sends a request on a new connection, and does not read the response. */
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
