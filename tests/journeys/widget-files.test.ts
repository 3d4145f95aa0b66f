import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startS3Server, waitFor } from "@svc/testing";
import type { S3Server } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { queryDatabase } from "./support/query-database.ts";
import { SECRET_KEY } from "./support/start-product.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";
import { svcWithin } from "./support/svc-within.ts";

const CONTENT = randomBytes(700_000);

let s3: S3Server;
let widget: WidgetProduct;

beforeAll(async () => {
  s3 = await startS3Server();
  widget = await startWidget({ env: { SVC_FILES_URL: s3.url } });
});
afterAll(async () => {
  await widget?.stop();
  await s3?.close();
});

test("a visitor's file moves to the object store, downloads as before, and is deleted there by an erasure", async () => {
  const visitorId = randomUUID();
  const form = new FormData();
  form.append("file", new Blob([CONTENT]), "photo.bin");
  const uploaded = await widget.call("/api/widget/files", { visitorId, form });
  expect(uploaded.status).toBe(201);
  const { fileId } = (await uploaded.json()) as { fileId: string };
  const sent = await widget.call("/api/widget/message", {
    visitorId,
    json: { text: "Here it is.", clientMessageId: randomUUID(), attachments: [{ fileId }] },
  });
  const { ticketId } = (await sent.json()) as { ticketId: string };
  const path = `/api/widget/files/${fileId}`;
  const read = async () => {
    const response = await widget.call(path, { visitorId });
    const headers = Object.fromEntries(
      ["content-type", "content-length", "content-disposition", "content-security-policy", "cache-control"].map(
        (name) => [name, response.headers.get(name)],
      ),
    );
    return { status: response.status, headers, content: Buffer.from(await response.arrayBuffer()) };
  };
  const before = await read();
  await waitFor(
    async () =>
      (await queryDatabase(widget.databaseUrl, "SELECT 1 FROM widget_files WHERE object_id IS NOT NULL")).length > 0,
    { what: "the file to be moved" },
  );
  expect(await s3.listObjects()).toHaveLength(1);
  const after = await read();
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
  await waitFor(async () => (await s3.listObjects()).length === 0, { what: "the object to be deleted" });
});

test("the doctor writes, reads and deletes an object, and says what to check where it cannot", async () => {
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
  expect(await checkOf(s3.url)).toMatchObject({ status: "ok", detail: "writes, reads and deletes objects" });
  const wrong = await checkOf(s3.url.replace("S3RVER:S3RVER", "S3RVER:wrong-secret"));
  expect(wrong).toMatchObject({ status: "fail", detail: expect.stringContaining("status 403") });
  expect(JSON.stringify(wrong)).not.toContain("wrong-secret");
});
