import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { apiAnswer } from "./api-answer.ts";
import type { ApiAnswer } from "./api-answer.ts";

/** A request that fetch would correct or reject. */
export interface RawRequest {
  method?: string;
  /** Sent unchanged, without normalization. */
  path: string;
  /** Sent in this order; names may repeat. */
  headers: [name: string, value: string][];
  body?: string | Buffer;
}

/** Sends one request unchanged on a new connection, and reads the response. */
export async function sendRaw(
  baseUrl: string,
  { method = "GET", path, headers, body }: RawRequest,
): Promise<ApiAnswer> {
  const { hostname, port, host } = new URL(baseUrl);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request({
      host: hostname,
      port,
      method,
      path,
      agent: false,
      headers: [
        ["Host", host],
        ["Connection", "close"],
        ...(body === undefined ? [] : [["Content-Length", String(Buffer.byteLength(body))]]),
        ...headers,
      ].flat(),
    });
    sending.once("error", reject).once("response", resolve);
    sending.end(body);
  });
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const answered = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) answered.append(name, value);
  }
  return apiAnswer(response.statusCode ?? 0, answered, Buffer.concat(parts).toString("utf8"));
}
