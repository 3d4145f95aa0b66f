import { createServer, request as call } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { Request } from "express";
import { readFormFile } from "./file-routes.ts";

const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Reads a form at this minimum rate; responds with the file's size, or the error. Sends the beginning of a form. */
async function start(pace: { windowMs: number; bytes: number }) {
  const opened = createServer((request, response) => {
    readFormFile(request as Request, pace).then(
      ({ content }) => response.end(String(content.length)),
      (error: unknown) => response.end(error instanceof ServiceError ? `${error.code} ${error.message}` : "?"),
    );
  });
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, "127.0.0.1", resolve));
  const sender = call({
    port: (opened.address() as AddressInfo).port,
    method: "POST",
    headers: { "Content-Type": "multipart/form-data; boundary=b" },
  });
  sender.on("error", () => undefined);
  sender.write(HEAD);
  const answer = new Promise<string>((resolve) => {
    sender.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve(text));
    });
  });
  return { sender, answer };
}

test("a file whose upload stalls is aborted, and its sender gets an error", async () => {
  const { sender, answer } = await start({ windowMs: 30, bytes: 10 });
  expect(await answer).toMatch(/^invalid_request .*too slow/);
  sender.destroy();
});
