import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { createApp, listen } from "@svc/http";
import type { Listening } from "@svc/http";
import { collectLog, waitFor } from "@svc/testing";
import { withUpload } from "./read-upload.ts";
import { createUploadGate } from "./upload-gate.ts";

const MB = 1024 * 1024;
const ROOM = { maxBytes: 4 * MB, callerMaxBytes: 2 * MB, freeBytes: 1024 };

let server: Listening;
const sockets: Socket[] = [];
/** Bodies that have begun. */
let begun = 0;

beforeAll(async () => {
  const gate = createUploadGate(ROOM);
  const app = createApp(collectLog().log, (routes) => {
    routes.post("/upload", (request, response) => {
      begun += 1;
      const caller = String(request.headers["x-caller"]);
      return withUpload(request, { gate, caller }, (upload) => {
        response.json("files" in upload ? { bytes: upload.files[0]?.bytes.byteLength } : upload);
        return Promise.resolve();
      });
    });
  });
  server = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(() => server.close(1_000));

/** Announces a large body, sends the beginning of it, and then nothing. */
async function stall(caller: string, beginning: Uint8Array): Promise<void> {
  const socket = connect(server.port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  const before = begun;
  const head = `POST /upload HTTP/1.1\r\nHost: x\r\nX-Caller: ${caller}\r\nContent-Type: application/pdf\r\n`;
  socket.write(`${head}Content-Length: ${50 * MB}\r\n\r\n`);
  socket.write(beginning);
  await waitFor(() => begun > before, { what: "the body to begin" });
}

async function upload(caller: string, body: string | Uint8Array, type = "application/pdf") {
  const response = await fetch(`http://127.0.0.1:${server.port}/upload`, {
    method: "POST",
    headers: { "x-caller": caller, "content-type": type },
    body,
  });
  return { status: response.status, body: await response.json(), retryAfter: response.headers.get("retry-after") };
}

test("connections that announce much and send one byte block nobody, whatever is uploaded", async () => {
  await stall("slow", Buffer.from("%"));
  await stall("slow", Buffer.from("%"));
  const json = { text: "hi" };
  expect(await upload("other", JSON.stringify(json), "application/json")).toMatchObject({
    status: 200,
    body: { json },
  });
  expect(await upload("other", Buffer.alloc(2 * MB))).toMatchObject({ status: 200, body: { bytes: 2 * MB } });
  expect(await upload("slow", Buffer.alloc(MB))).toMatchObject({ status: 200, body: { bytes: MB } });
});

test("a caller who fills the room of its own is told to come back, and others have theirs", async () => {
  await stall("greedy", Buffer.alloc(2 * MB - 1));
  const answer = await waitFor(
    async () => {
      const refused = await upload("greedy", Buffer.alloc(MB));
      return refused.status === 429 ? refused : null;
    },
    { what: "the room to be full" },
  );
  expect(answer).toMatchObject({ body: { code: "rate_limited" }, retryAfter: "2" });
  expect(await upload("greedy", "small", "text/plain")).toMatchObject({ status: 200, body: { bytes: 5 } });
  expect(await upload("other", Buffer.alloc(2 * MB))).toMatchObject({ status: 200 });
});
