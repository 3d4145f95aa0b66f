import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startS3Server, waitFor, queryDatabase } from "@svc/testing";
import type { S3Server } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { SECRET_KEY } from "./support/start-product.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";
import { svcWithin } from "./support/svc-within.ts";

const CONTENT = randomBytes(700_000);

let s3: S3Server | null = null;
let widget: WidgetProduct;
/** Files are moved every 30 s, so all tests send theirs at once. */
let erased: SentFile;
let kept: SentFile;

beforeAll(async () => {
  s3 = await startS3Server();
  widget = await startWidget({ env: { SVC_FILES_URL: s3.url } });
  [erased, kept] = await Promise.all([sendFile(randomUUID()), sendFile(randomUUID())]);
});
afterAll(async () => {
  await widget?.stop();
  await s3?.close();
});

const server = () => {
  if (s3 === null) throw new Error("the object store is stopped");
  return s3;
};

interface SentFile {
  visitorId: string;
  fileId: string;
  path: string;
  before: Awaited<ReturnType<typeof readFile>>;
  ticketId: string;
}

/** Sends a message with a file; returns both when the file is in the object store. */
async function sendFile(visitorId: string): Promise<SentFile> {
  const form = new FormData();
  form.append("file", new Blob([CONTENT]), "photo.bin");
  const uploaded = await widget.call("/api/widget/files", { visitorId, form });
  expect(uploaded.status).toBe(201);
  const { fileId } = (await uploaded.json()) as { fileId: string };
  const path = `/api/widget/files/${fileId}`;
  const before = await readFile(path, visitorId);
  const sent = await widget.call("/api/widget/message", {
    visitorId,
    json: { text: "Here it is.", clientMessageId: randomUUID(), attachments: [{ fileId }] },
  });
  const { ticketId } = (await sent.json()) as { ticketId: string };
  const isMoved = "SELECT 1 FROM widget_files WHERE id = $1 AND object_id IS NOT NULL";
  await waitFor(async () => (await queryDatabase(widget.databaseUrl, isMoved, [fileId])).length > 0, {
    what: "the file to be moved",
    timeoutMs: 60_000,
  });
  return { visitorId, fileId, path, before, ticketId };
}

const HEADERS = ["content-type", "content-length", "content-disposition", "content-security-policy", "cache-control"];

async function readFile(path: string, visitorId: string) {
  const response = await widget.call(path, { visitorId });
  const headers = Object.fromEntries(HEADERS.map((name) => [name, response.headers.get(name)]));
  return { status: response.status, headers, content: Buffer.from(await response.arrayBuffer()) };
}

test("a visitor's file moves to the object store, downloads as before, and is deleted there by an erasure", async () => {
  const { visitorId, fileId, path, before, ticketId } = erased;
  expect(await server().listObjects()).toHaveLength(2);
  const after = await readFile(path, visitorId);
  expect(after.status).toBe(200);
  expect(after.content.equals(CONTENT)).toBe(true);
  expect(after).toEqual(before);
  expect((await widget.call(path, { visitorId: randomUUID() })).status).toBe(404);
  const [apiUrl = ""] = widget.composition.apiUrls;
  const ofOperator = await fetch(`${apiUrl}/api/v1/admin/tickets/${ticketId}/files/${fileId}`, {
    headers: { "X-Api-Key": widget.adminKey },
  });
  expect(Buffer.from(await ofOperator.arrayBuffer()).equals(CONTENT)).toBe(true);
  expect(ofOperator.headers.get("content-disposition")).toContain("photo.bin");
  const person = { key: widget.adminKey, json: { visitorId } };
  const exported = await callApi(`${apiUrl}/api/v1/admin/privacy/export`, person);
  expect(exported.text).toContain(CONTENT.toString("base64"));
  expect((await callApi(`${apiUrl}/api/v1/admin/privacy/erase`, person)).status).toBe(200);
  await waitFor(async () => (await server().listObjects()).length === 1, { what: "the object to be deleted" });
  expect((await readFile(kept.path, kept.visitorId)).status).toBe(200);
});

test("the doctor writes, reads and deletes an object, and explains what to check if it fails", async () => {
  const doctor = (filesUrl: string) =>
    svcWithin(
      {
        DATABASE_URL: widget.databaseUrl,
        SVC_SECRET_KEY: SECRET_KEY,
        SVC_FILES_URL: filesUrl,
        SVC_ADMIN_KEY: widget.adminKey,
      },
      "",
      "doctor",
      "--json",
    );
  const checkOf = async (filesUrl: string) => {
    const { stdout } = await doctor(filesUrl);
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    return checks.find(({ name }) => name === "File store");
  };
  expect(await checkOf(server().url)).toMatchObject({ status: "ok", detail: "writes, reads and deletes objects" });
  const wrong = await checkOf(server().url.replace("S3RVER:S3RVER", "S3RVER:wrong-secret"));
  expect(wrong).toMatchObject({ status: "fail", detail: expect.stringContaining("status 403") });
  expect(JSON.stringify(wrong)).not.toContain("wrong-secret");
});

test("while the object store is unavailable, a moved file is 503 and a new one is accepted", async () => {
  const { visitorId, path } = kept;
  await server().close();
  s3 = null;
  const rejected = await widget.call(path, { visitorId });
  expect(rejected.status).toBe(503);
  expect(await rejected.json()).toMatchObject({ code: "unavailable" });
  const form = new FormData();
  form.append("file", new Blob(["still accepted"]), "a.txt");
  const uploaded = await widget.call("/api/widget/files", { visitorId, form });
  const { fileId } = (await uploaded.json()) as { fileId: string };
  expect(await (await widget.call(`/api/widget/files/${fileId}`, { visitorId })).text()).toBe("still accepted");
});
