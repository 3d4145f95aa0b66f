import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { collectLog, waitFor } from "@svc/testing";
import { createApp } from "../create-app.ts";
import { listen } from "../listen.ts";
import type { Listening } from "../listen.ts";
import { createUploadGate, readForm, withUpload } from "./read-upload.ts";

describe("readUpload", () => {
  const MB = 1024 * 1024;
  const ROOM = { maxBytes: 4 * MB, callerMaxBytes: 2 * MB, freeBytes: 1024 };

  let server: Listening;
  const sockets: Socket[] = [];
  /** Bodies whose reading has started. */
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

  /** Announces a large body, sends the beginning of it, and then stalls. */
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

  /** A body that the test sends in parts. */
  function openBody(gate: ReturnType<typeof createUploadGate>, caller: string) {
    let receive: (sizeBytes: number) => void = () => undefined;
    let end: () => void = () => undefined;
    const ended = gate.admit(caller, (meter) => {
      receive = meter;
      return new Promise<void>((resolve) => (end = resolve));
    });
    return {
      receive: (sizeBytes: number) => receive(sizeBytes),
      async end() {
        end();
        await ended;
      },
    };
  }

  const REFUSED = expect.objectContaining({
    code: "rate_limited",
    headers: { "Retry-After": expect.any(String) },
  });

  const newGate = () => createUploadGate({ maxBytes: 100, callerMaxBytes: 60, freeBytes: 10 });

  test("counts what came, so that bodies of which nothing comes take no room", () => {
    const gate = newGate();
    for (let index = 0; index < 50; index += 1) openBody(gate, "slow").receive(1);
    expect(() => openBody(gate, "slow").receive(60)).not.toThrow();
    expect(() => openBody(gate, "other").receive(40)).not.toThrow();
  });

  test("refuses what has no room with a time to come back, and makes room again", async () => {
    const gate = newGate();
    const first = openBody(gate, "a");
    first.receive(30);
    first.receive(30);
    const second = openBody(gate, "b");
    second.receive(40);
    expect(() => second.receive(1)).toThrow(REFUSED);
    await first.end();
    expect(() => second.receive(19)).not.toThrow();
    await second.end();
    expect(() => openBody(gate, "a").receive(60)).not.toThrow();
  });

  test("leaves room for others however much one caller sends", () => {
    const gate = newGate();
    openBody(gate, "greedy").receive(60);
    const more = openBody(gate, "greedy");
    more.receive(10);
    expect(() => more.receive(1)).toThrow(REFUSED);
    expect(() => openBody(gate, "other").receive(40)).not.toThrow();
  });

  test("always lets small bodies in", () => {
    const gate = newGate();
    openBody(gate, "a").receive(60);
    openBody(gate, "b").receive(40);
    for (const caller of ["a", "b", "c"]) expect(() => openBody(gate, caller).receive(10)).not.toThrow();
    expect(() => openBody(gate, "c").receive(11)).toThrow(REFUSED);
  });

  test("makes room again for what failed", async () => {
    const gate = newGate();
    const failing = gate.admit("a", (meter) => {
      meter(60);
      return Promise.reject(new Error("cut"));
    });
    await expect(failing).rejects.toThrow("cut");
    expect(() => openBody(gate, "a").receive(60)).not.toThrow();
  });
});

describe("readForm", () => {
  const TYPE = "multipart/form-data; boundary=b";
  const part = (headers: string, body: string) =>
    `--b\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${body}\r\n`;
  const form = (...parts: string[]) => Buffer.from(`${parts.join("")}--b--\r\n`);

  test("a form is its fields and its files, with names in UTF-8 and without folders", async () => {
    const body = form(
      part('name="title"', "Häuser"),
      part('name="file"; filename="../../etc/ümläut.md"\r\nContent-Type: text/markdown', "# ü\r\n"),
      part('name="file"; filename="empty.txt"', ""),
    );
    const { fields, files } = await readForm(body, 'multipart/form-data; boundary="b"');
    expect([...fields]).toEqual([["title", "Häuser"]]);
    expect(files).toEqual([
      { name: "ümläut.md", mime: "text/markdown", bytes: Buffer.from("# ü\r\n") },
      { name: "empty.txt", mime: "text/plain", bytes: Buffer.alloc(0) },
    ]);
  });

  test.each([
    ["has no boundary", form(part('name="a"', "a")), "multipart/form-data"],
    ["is empty", Buffer.from(""), TYPE],
    ["is something else", Buffer.from("hello"), TYPE],
    ["is cut in a file", Buffer.from(part('name="file"; filename="a"', "half")), TYPE],
    ["is cut in a field", Buffer.from('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'), TYPE],
    ["has a field twice", form(part('name="a"', "1"), part('name="a"', "2")), TYPE],
    ["has a field that is too long", form(part('name="a"', "x".repeat(100_000))), TYPE],
    ["has too many fields", form(...Array.from({ length: 11 }, (_, index) => part(`name="f${index}"`, "x"))), TYPE],
    [
      "has too many files",
      form(...Array.from({ length: 21 }, (_, index) => part(`name="f"; filename="${index}"`, ""))),
      TYPE,
    ],
    ["is only boundaries", Buffer.from(`${"--b\r\n\r\n".repeat(5_000)}--b--`), TYPE],
  ])("a form that %s is an answer or a fault in words, never a crash", async (_what, body, type) => {
    const outcome = await readForm(body, type).catch((error: unknown) => error);
    const hasParts = typeof outcome === "object" && outcome !== null && "files" in outcome;
    if (hasParts) expect(outcome).toEqual({ fields: new Map(), files: [] });
    else
      expect(outcome).toMatchObject({
        code: "invalid_request",
        message: expect.stringMatching(/^The form is not valid: /),
      });
  });
});
