import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { documentItemSchema, importItemSchema } from "@svc/contracts";
import type { DocumentItem } from "@svc/contracts";
import { waitFor, queryDatabase } from "@svc/testing";
import { makePdf } from "../packages/knowledge/make-pdf.ts";
import {
  createKbClient,
  cursorOf,
  documentOf,
  documentsOf,
  importOf,
  importsOf,
  kbOf,
} from "./support/create-kb-client.ts";
import type { KbClient } from "./support/create-kb-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdKb } from "./support/hold-kb.ts";
import { openRawConnection } from "./support/open-raw-connection.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const MB = 1024 * 1024;
const MARKDOWN = "# Parking\n\nVisitors park behind the house.";

let product: Product;
let kbs: KbClient;
let site: Server;
let siteUrl: string;
let kbId: string;

/** Pages of a site; others are 404. */
const PAGES: Record<string, { type: string; body: string }> = {
  "/robots.txt": { type: "text/plain", body: "User-agent: *\nDisallow: /private" },
  "/guide": {
    type: "text/html",
    body: "<title>Guide</title><main><h1>Guide</h1><p>The lift is on the left.</p></main>",
  },
  "/flaky": { type: "text/html", body: "<title>Flaky</title><main><p>The roof is flat.</p></main>" },
  "/other": {
    type: "text/html",
    body: "<title>Other</title><main><h1>Other</h1><p>The stairs are on the right.</p></main>",
  },
};

beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/flaky" && outages > 0) {
      outages -= 1;
      response.writeHead(503).end();
      return;
    }
    const page = PAGES[request.url ?? ""];
    response.writeHead(page === undefined ? 404 : 200, { "Content-Type": page?.type ?? "text/plain" }).end(page?.body);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const names = ["/guide", "/other", "/missing", "/private/secret"];
  PAGES["/sitemap.xml"] = {
    type: "application/xml",
    body: `<urlset>${names.map((name) => `<url><loc>${siteUrl}${name}</loc></url>`).join("")}</urlset>`,
  };
  product = await startProduct({ env: { SVC_FETCH_ALLOW: "127.0.0.1" } });
  kbs = createKbClient(product);
});

afterAll(async () => {
  await product?.stop();
  site?.closeAllConnections();
  site?.close();
});

beforeEach(async () => {
  kbId = (await kbs.makeKb()).id;
});

/** Number of requests that fail before the site serves its pages. */
let outages = 0;

/** Returns the documents of the knowledge base, oldest first. */
async function documents(query = ""): Promise<DocumentItem[]> {
  return documentsOf(await kbs.call(`/${kbId}/documents${query}`)).toReversed();
}

const ingests = () => queryDatabase(product.databaseUrl, "SELECT 1 FROM ingests WHERE kb_id = $1", [kbId]);

/** Returns a form like `curl -F`. */
function formOf(parts: { name: string; filename?: string; type?: string; body: string }[]) {
  const form = new FormData();
  for (const { name, filename, type, body } of parts) {
    if (filename === undefined) form.append(name, body);
    else form.append(name, new Blob([body], { type: type ?? "application/octet-stream" }), filename);
  }
  return new Response(form);
}

async function sendForm(parts: Parameters<typeof formOf>[0]) {
  const form = formOf(parts);
  const body = new Uint8Array(await form.arrayBuffer());
  return kbs.upload(kbId, "", body, form.headers.get("content-type") ?? "");
}

describe("a text", () => {
  test("201: is queued, then ready and found; adding it again is 200 without work", async () => {
    const facts = { title: "Where to park", url: "https://example.com/parking", key: "parking" };
    const json = { text: MARKDOWN, ...facts };
    const added = await kbs.add(kbId, json);
    expect(added.status).toBe(201);
    const item = documentOf(added);
    expect(documentItemSchema.parse(item)).toEqual(item);
    expect(item).toMatchObject({ kbId, key: "parking", status: "queued", error: null, language: null, chunks: 0 });
    expect(added.headers.get("location")).toBe(`/api/v1/admin/kb/${kbId}/documents/${item.id}`);

    const ready = await kbs.settled(kbId, item.id);
    const bytes = Buffer.byteLength(MARKDOWN);
    expect(ready).toMatchObject({ ...facts, mime: "text/markdown", bytes, language: "en", chunks: 1 });
    expect(await kbs.search(kbId, "Where do visitors park?")).toHaveLength(1);

    const again = await kbs.add(kbId, json);
    expect([again.status, documentOf(again)]).toEqual([200, ready]);
    expect(await ingests()).toEqual([]);
    expect(await documents()).toEqual([ready]);
  });

  test("changed under its key replaces the old one, which is found until then", async () => {
    const { id } = documentOf(await kbs.add(kbId, { text: MARKDOWN, key: "parking" }));
    await kbs.settled(kbId, id);
    const release = await holdKb(product.databaseUrl, kbId);
    const changed = documentOf(await kbs.add(kbId, { text: "# Parking\n\nBikes only.", key: "parking" }));
    expect(changed).toMatchObject({ id, status: "queued", chunks: 1 });
    expect(kbOf(await kbs.call(`/${kbId}`))).toMatchObject({ status: "ingesting", queued: 1, documents: 1 });
    expect((await kbs.search(kbId, "visitors"))[0]?.text).toContain("Visitors");
    await release();
    await kbs.settled(kbId, id);
    expect(await kbs.search(kbId, "visitors")).toEqual([]);
    expect((await kbs.search(kbId, "bikes"))[0]?.documentId).toBe(id);
    expect(kbOf(await kbs.call(`/${kbId}`))).toMatchObject({ status: "ready", queued: 0, documents: 1 });
  });

  test("without a key is identified by its content, so that titles need not be unique", async () => {
    const texts = ["one", "two", "one"].map((word) => ({ text: `The word is ${word}.`, title: "Same title" }));
    const ids: string[] = [];
    for (const json of texts) ids.push(documentOf(await kbs.add(kbId, json)).id);
    expect(ids[0]).toBe(ids[2]);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(await kbs.settled(kbId, id)).toMatchObject({ status: "ready", title: "Same title" });
  });

  test("in HTML or CSV is parsed as such", async () => {
    const html = await kbs.add(kbId, {
      text: "<h1>Zoo</h1><p>The zoo opens <b>late</b>.</p>",
      mime: "text/html",
      key: "z",
    });
    const csv = await kbs.add(kbId, { text: "city,visitors\nBonn,12345\n", mime: "text/csv", key: "c" });
    for (const { id } of [documentOf(html), documentOf(csv)]) {
      expect(await kbs.settled(kbId, id)).toMatchObject({ status: "ready" });
    }
    expect((await kbs.search(kbId, "zoo opens"))[0]?.text).not.toContain("<b>");
    expect((await kbs.search(kbId, "Bonn"))[0]?.text).toContain("12345");
  });

  test("400 and 413: with errors is rejected, and nothing is stored", async () => {
    const errors: [object, string[]][] = [
      [{ text: " " }, ["/text"]],
      [{ text: "a\u0000b" }, ["/text"]],
      [{ text: "a", titel: "x" }, ["/titel"]],
      [{ text: "a", title: "", key: " " }, ["/title", "/key"]],
      [{ text: "a", mime: "application/pdf" }, ["/mime"]],
      [{ text: "a", url: "ftp://example.com" }, ["/url"]],
      [{ text: "a", sitemap: "https://example.com/" }, ["/sitemap"]],
      [{ url: "https://example.com/", maxPages: 3 }, ["/maxPages"]],
      [{ sitemap: "https://example.com/", key: "k", maxPages: 0 }, ["/maxPages", "/key"]],
      [{}, [""]],
      [[], [""]],
      [{ text: 7 }, ["/text"]],
    ];
    for (const [json, pointers] of errors) {
      const answer = await kbs.add(kbId, json);
      const positions = new Set(answer.body.errors?.map(({ pointer }) => pointer));
      expectProblem(answer, "invalid_request");
      for (const position of positions) expect(pointers).toContain(position);
      expect(positions.size).toBeGreaterThan(0);
    }
    expectProblem(await kbs.add(kbId, { text: "x".repeat(11 * MB) }), "payload_too_large");
    expectProblem(await kbs.add(kbId, { text: "x".repeat(16 * MB) }), "payload_too_large");
    expectProblem(await kbs.upload(kbId, "", "{", "application/json"), "invalid_json");
    expect(await documents()).toEqual([]);
  });
});

describe("the bytes of a file", () => {
  test("201: are read by their content, whatever the request declares", async () => {
    const pdf = await makePdf([
      (page) => page.text("The boiler stands in the cellar."),
      (page) => page.text("The key hangs upstairs."),
    ]);
    const uploads = [
      await kbs.upload(kbId, "?name=manual.pdf&title=Manual", new Uint8Array(pdf), "application/pdf"),
      await kbs.upload(kbId, "?name=notes.md", MARKDOWN),
      await kbs.upload(kbId, "?name=page.html&key=p", "<h1>Pool</h1><p>The pool is warm.</p>", "text/html"),
      await kbs.upload(kbId, "?name=list.csv", "room,bed\n12,king\n", "text/csv"),
    ];
    expect(uploads.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const ids = uploads.map((answer) => documentOf(answer).id);
    const read = await Promise.all(ids.map((id) => kbs.settled(kbId, id)));
    expect(read.map(({ key, status, error }) => ({ key, status, error }))).toEqual(
      ["manual.pdf", "notes.md", "p", "list.csv"].map((key) => ({ key, status: "ready", error: null })),
    );
    expect(read[0]).toMatchObject({ mime: "application/pdf", bytes: pdf.byteLength, title: "Manual" });
    expect((await kbs.search(kbId, "boiler"))[0]).toMatchObject({ documentId: ids[0], page: 1 });
    for (const word of ["visitors", "pool", "king"]) expect(await kbs.search(kbId, word)).toHaveLength(1);

    const again = await kbs.upload(kbId, "?name=manual.pdf&title=Manual", new Uint8Array(pdf), "application/pdf");
    expect([again.status, documentOf(again)]).toEqual([200, read[0]]);
  });

  test("that cannot be read fail with the reason, and affect no other document", async () => {
    const bad = documentOf(await kbs.upload(kbId, "?name=broken.pdf", "%PDF-1.7 and then nothing", "application/pdf"));
    const good = documentOf(await kbs.upload(kbId, "?name=good.md", MARKDOWN, "text/markdown"));
    const failed = await kbs.settled(kbId, bad.id);
    expect(failed).toMatchObject({ status: "failed", chunks: 0, error: expect.stringContaining("broken.pdf") });
    expect(await kbs.settled(kbId, good.id)).toMatchObject({ status: "ready" });
    expect(kbOf(await kbs.call(`/${kbId}`))).toMatchObject({ documents: 2, failed: 1, status: "ready" });
    expect((await documents("?status=failed")).map(({ id }) => id)).toEqual([bad.id]);
    expect((await documents("?status=ready")).map(({ id }) => id)).toEqual([good.id]);
    expect(await documents("?status=queued")).toEqual([]);
    expect((await documents("?q=BROKEN")).map(({ id }) => id)).toEqual([bad.id]);
    expectProblem(await kbs.call(`/${kbId}/documents?status=odd&limit=x`), "invalid_request", ["/status", "/limit"]);

    // After a valid file is uploaded, it is ready.
    await kbs.upload(kbId, "?name=broken.pdf", MARKDOWN, "application/pdf");
    expect(await kbs.settled(kbId, bad.id)).toMatchObject({ status: "ready", error: null });
  });

  test("that are empty, without a type, compressed, or of an invalid type are rejected", async () => {
    expectProblem(await kbs.upload(kbId, "?name=empty.txt", ""), "invalid_request", ["/file"]);
    expectProblem(await kbs.upload(kbId, "", "a=b", "application/x-www-form-urlencoded"), "unsupported_media_type");
    const zipped = await kbs.call(`/${kbId}/documents`, {
      body: "a",
      headers: { "Content-Type": "text/plain", "Content-Encoding": "gzip" },
    });
    expectProblem(zipped, "unsupported_media_type");
    const odd = await kbs.upload(kbId, "?nmae=x&url=ftp://x&key=%00", "text", "text/plain");
    expectProblem(odd, "invalid_request", ["/nmae", "/url", "/key"]);
    expect(await documents()).toEqual([]);
  });

  test("413: beyond 50 MB are rejected, and nothing is stored", async () => {
    const large = new Uint8Array(50 * MB + 1);
    expectProblem(await kbs.upload(kbId, "?name=large.bin", large), "payload_too_large");
    expect(await documents()).toEqual([]);
  });

  test("401 and 403: get their response while they are being sent, and the connection can be used again", async () => {
    const [url = ""] = product.composition.apiUrls;
    const { project } = await product.store.projects.ensure("default");
    const owner = { name: "reader", scopes: ["kb:read" as const], project: project.id, createdBy: "test" };
    const { key: reader } = await issueKey(product.store, owner);
    for (const [key, status] of [
      [`${reader}x`, 401],
      [reader, 403],
    ] as const) {
      const head = `Host: a\r\nX-Api-Key: ${key}\r\n`;
      const connection = await openRawConnection(url);
      try {
        connection.write(
          `POST /api/v1/admin/kb/${kbId}/documents?name=a.pdf HTTP/1.1\r\n${head}` +
            `Content-Type: application/pdf\r\nContent-Length: ${8 * MB}\r\n\r\n`,
        );
        connection.write(Buffer.alloc(MB));
        const { answers } = await connection.answered();
        expect(answers.map((answer) => answer.status)).toEqual([status]);
        for (let sentMb = 1; sentMb < 8; sentMb++) connection.write(Buffer.alloc(MB));
        connection.write(`GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n`);
        const { answers: all } = await connection.answered({ count: 2 });
        expect(all.map((answer) => answer.status)).toEqual([status, 200]);
      } finally {
        connection.hangUp();
      }
    }
    expect(await documents()).toEqual([]);
  });

  test("truncated in the middle leave nothing behind", async () => {
    const [url = ""] = product.composition.apiUrls;
    const { hostname, port, host } = new URL(url);
    for (const type of ["application/pdf", "multipart/form-data; boundary=x", "application/json"]) {
      const socket = connect({ host: hostname, port: Number(port) });
      await once(socket, "connect");
      socket.write(
        `POST /api/v1/admin/kb/${kbId}/documents?name=cut.pdf HTTP/1.1\r\nHost: ${host}\r\n` +
          `X-Api-Key: ${product.adminKey}\r\nContent-Type: ${type}\r\nContent-Length: 1000000\r\n\r\n{"text":"half`,
      );
      await new Promise((resolve) => socket.write("x".repeat(10_000), resolve));
      socket.destroy();
    }
    // Added later, so that by now they would have been processed.
    const { id } = documentOf(await kbs.add(kbId, { text: "whole" }));
    await kbs.settled(kbId, id);
    expect((await documents()).map((document) => document.id)).toEqual([id]);
    expect(await queryDatabase(product.databaseUrl, "SELECT 1 FROM ingest_parts")).toEqual([]);
  });
});

describe("a form", () => {
  test("201: with one file creates one document with the values of its fields", async () => {
    const answer = await sendForm([
      { name: "title", body: "Häuser" },
      { name: "file", filename: "ümläut.md", body: MARKDOWN },
      { name: "key", body: "house" },
    ]);
    expect(answer.status).toBe(201);
    const item = documentOf(answer);
    expect(item).toMatchObject({ key: "house", title: "Häuser" });
    expect(await kbs.settled(kbId, item.id)).toMatchObject({ status: "ready", title: "Häuser" });
  });

  test("201: with several files creates as many documents, and an invalid one fails alone", async () => {
    const parts = ["a.md", "b.txt", "bad.pdf"].map((filename) => ({
      name: "file",
      filename,
      body: filename === "bad.pdf" ? "%PDF-1.4 broken" : `The file ${filename} stands here.`,
    }));
    const answer = await sendForm(parts);
    expect(answer.status).toBe(201);
    const items = documentsOf(answer);
    expect(items.map(({ key }) => key)).toEqual(["a.md", "b.txt", "bad.pdf"]);
    const read = await Promise.all(items.map(({ id }) => kbs.settled(kbId, id)));
    expect(read.map(({ status }) => status)).toEqual(["ready", "ready", "failed"]);
    const firstTwo = await sendForm(parts.slice(0, 2));
    expect([firstTwo.status, documentsOf(firstTwo)]).toEqual([200, read.slice(0, 2)]);
  });

  test("400 and 413: that is invalid or too large is rejected as a whole", async () => {
    const file = { name: "file", filename: "a.md", body: "a" };
    expectProblem(await sendForm([{ name: "title", body: "no file" }]), "invalid_request", ["/file"]);
    expectProblem(await sendForm([file, { ...file }]), "invalid_request", ["/file"]);
    expectProblem(await sendForm([file, { name: "colour", body: "red" }]), "invalid_request", ["/colour"]);
    expectProblem(
      await sendForm([file, { ...file, filename: "b.md" }, { name: "key", body: "k" }]),
      "invalid_request",
      ["/key"],
    );
    const many = Array.from({ length: 21 }, (_, index) => ({ ...file, filename: `${index}.md` }));
    expectProblem(await sendForm(many), "invalid_request", [""]);
    const type = "multipart/form-data; boundary=x";
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n';
    for (const body of ["", "no form", `${part}cut`, "--x\r\n\r\n--x", `${part}a\r\n--y--`]) {
      expectProblem(await kbs.upload(kbId, "", body, type), "invalid_request");
    }
    expectProblem(await kbs.upload(kbId, "", "--x--", "multipart/form-data"), "invalid_request", [""]);
    expectProblem(await sendForm([{ ...file, body: "x".repeat(51 * MB) }]), "payload_too_large");
    expect(await documents()).toEqual([]);
  });
});

describe("a page", () => {
  test("201: is fetched and read, and later only checked for changes", async () => {
    const added = await kbs.add(kbId, { url: `${siteUrl}/guide#lift` });
    expect(added.status).toBe(201);
    const { id } = documentOf(added);
    expect(documentOf(added)).toMatchObject({ key: `${siteUrl}/guide`, status: "queued" });
    const ready = await kbs.settled(kbId, id);
    expect(ready).toMatchObject({ status: "ready", title: "Guide", url: `${siteUrl}/guide`, mime: "text/html" });
    const [hit] = await kbs.search(kbId, "lift");
    expect(hit).toMatchObject({ documentId: id, url: `${siteUrl}/guide` });

    expect((await kbs.add(kbId, { url: `${siteUrl}/guide` })).status).toBe(201);
    expect(await kbs.settled(kbId, id)).toEqual(ready);
    expect(await kbs.search(kbId, "lift")).toEqual([hit]);
  });

  test("that does not exist fails with the reason; a forbidden one is rejected immediately", async () => {
    const { id } = documentOf(await kbs.add(kbId, { url: `${siteUrl}/nowhere` }));
    expect(await kbs.settled(kbId, id)).toMatchObject({ status: "failed", error: expect.stringContaining("404") });
    for (const url of [
      "http://10.0.0.1/",
      "http://169.254.169.254/latest",
      "http://localhost:31416/",
      "http://a:b@example.com/",
    ]) {
      expectProblem(await kbs.add(kbId, { url }), "invalid_request", ["/url"]);
      expectProblem(await kbs.add(kbId, { sitemap: url }), "invalid_request", ["/sitemap"]);
    }
  });
});

describe("a document that fails for an external reason", () => {
  /** Waits until an attempt has failed, and makes the next one, with this number, due. */
  async function nextAttempt(id: string, attempts: number): Promise<void> {
    const skip = () =>
      queryDatabase(
        product.databaseUrl,
        `UPDATE ingests SET next_at = now(), due_at = now(), attempts = $2
         WHERE document_id = $1 AND failure IS NOT NULL AND lease_id IS NULL RETURNING id`,
        [id, attempts - 1],
      );
    await waitFor(async () => (await skip()).length === 1, { what: "a try to fail" });
  }

  test("is retried until it succeeds", async () => {
    outages = 1;
    const { id } = documentOf(await kbs.add(kbId, { url: `${siteUrl}/flaky` }));
    await nextAttempt(id, 2);
    expect(await kbs.settled(kbId, id)).toMatchObject({ status: "ready", error: null });
  });

  test("fails with the reason after the fifth attempt", async () => {
    outages = 2;
    const { id } = documentOf(await kbs.add(kbId, { url: `${siteUrl}/flaky` }));
    await nextAttempt(id, 5);
    expect(await kbs.settled(kbId, id)).toMatchObject({ status: "failed", error: expect.stringContaining("503") });
  });

  test("fails after five processes have crashed while reading it", async () => {
    const release = await holdKb(product.databaseUrl, kbId);
    const { id } = documentOf(await kbs.add(kbId, { text: "deadly" }));
    // The lease belongs to another process, so that the process waiting for the knowledge base does not renew it.
    const crash = () =>
      queryDatabase(
        product.databaseUrl,
        `WITH crashed AS (
           INSERT INTO processes (id, app, host, pid, memory_bytes, heard_at, crashed_at)
           SELECT gen_random_uuid(), 'pipeline', 'a-host', 1, 1, now() - interval '1 minute', now()
           FROM generate_series(1, 5) RETURNING id
         )
         UPDATE ingests SET due_at = now(), lease_id = gen_random_uuid(), lease_until = now() - interval '5 s',
           expired_leases = (SELECT jsonb_agg(jsonb_build_object('process', id, 'until', now())) FROM crashed)
         WHERE document_id = $1 AND attempts = 1 AND expired_leases IS NULL RETURNING id`,
        [id],
      );
    await waitFor(async () => (await crash()).length === 1, { what: "the document to be worked on" });
    const isTaken = async () => {
      const sql = "SELECT 1 FROM ingests WHERE document_id = $1 AND jsonb_array_length(expired_leases) = 6";
      return (await queryDatabase(product.databaseUrl, sql, [id])).length === 1;
    };
    await waitFor(isTaken, { what: "somebody else to take it" });
    await release();
    expect(await kbs.settled(kbId, id)).toMatchObject({ status: "failed", error: expect.stringContaining("5 times") });
  });
});

describe("a sitemap", () => {
  test("201: creates one document per page, and shows their progress", async () => {
    const added = await kbs.add(kbId, { sitemap: `${siteUrl}/sitemap.xml`, maxPages: 10 });
    expect(added.status).toBe(201);
    const item = importOf(added);
    expect(importItemSchema.parse(item)).toEqual(item);
    expect(item).toMatchObject({
      kbId,
      sitemap: `${siteUrl}/sitemap.xml`,
      maxPages: 10,
      status: "queued",
      found: null,
    });
    expect(added.headers.get("location")).toBe(`/api/v1/admin/kb/${kbId}/imports/${item.id}`);
    const ended = await kbs.importSettled(kbId, item.id);
    expect(ended).toMatchObject({ status: "ready", found: 3, done: 2, failed: 1, error: null });
    const pages = await documents();
    const found = pages.map(({ key, status }) => `${key.replace(siteUrl, "")} ${status}`);
    expect(found.sort()).toEqual(["/guide ready", "/missing failed", "/other ready"]);
    expect(importsOf(await kbs.call(`/${kbId}/imports`))).toEqual([ended]);
    expect((await kbs.search(kbId, "stairs"))[0]?.url).toBe(`${siteUrl}/other`);
  });

  test("that is invalid fails with the reason", async () => {
    const { id } = importOf(await kbs.add(kbId, { sitemap: `${siteUrl}/missing.xml` }));
    const ended = await kbs.importSettled(kbId, id);
    expect(ended).toMatchObject({ status: "failed", found: null, error: expect.stringMatching(/\S/) });
    expect(await documents()).toEqual([]);
  });

  test("that a site does not have is replaced by its links", async () => {
    PAGES["/shop/"] = {
      type: "text/html",
      body: '<html><p>Our shop. <a href="hours">Hours</a> <a href="/guide">Guide</a></p></html>',
    };
    PAGES["/shop/hours"] = { type: "text/html", body: "<html><p>We open the shop at nine.</p></html>" };
    const { id } = importOf(await kbs.add(kbId, { sitemap: `${siteUrl}/shop/` }));
    expect(await kbs.importSettled(kbId, id)).toMatchObject({ status: "ready", found: 2, done: 2, failed: 0 });
    expect((await documents()).map(({ key }) => key).toSorted()).toEqual([`${siteUrl}/shop/`, `${siteUrl}/shop/hours`]);
  });
});

describe("an import", () => {
  test("200: is removed from the list once it has finished, with its documents kept", async () => {
    const { id } = importOf(await kbs.add(kbId, { sitemap: `${siteUrl}/sitemap.xml` }));
    const ended = await kbs.importSettled(kbId, id);
    const removed = await kbs.call(`/${kbId}/imports/${id}`, { method: "DELETE" });
    expect(removed.status).toBe(200);
    expect(importOf(removed)).toEqual(ended);
    expect(importsOf(await kbs.call(`/${kbId}/imports`))).toEqual([]);
    expect(await documents()).toHaveLength(3);
    expectProblem(await kbs.call(`/${kbId}/imports/${id}`, { method: "DELETE" }), "not_found");
  });

  test("400: is not removed while its pages wait", async () => {
    const release = await holdKb(product.databaseUrl, kbId);
    const { id } = importOf(await kbs.add(kbId, { sitemap: `${siteUrl}/sitemap.xml` }));
    expectProblem(await kbs.call(`/${kbId}/imports/${id}`, { method: "DELETE" }), "invalid_request");
    await release();
    expect(await kbs.importSettled(kbId, id)).toMatchObject({ status: "ready" });
  });
});

describe("a document", () => {
  test("200: deleted while it waits stays deleted", async () => {
    const release = await holdKb(product.databaseUrl, kbId);
    const { id } = documentOf(await kbs.add(kbId, { text: MARKDOWN }));
    const isTaken = async () =>
      (
        await queryDatabase(product.databaseUrl, "SELECT 1 FROM ingests WHERE kb_id = $1 AND lease_id IS NOT NULL", [
          kbId,
        ])
      ).length === 1;
    await waitFor(isTaken, { what: "the document to be worked on" });
    const deleting = kbs.call(`/${kbId}/documents/${id}`, { method: "DELETE" });
    await release();
    expect((await deleting).status).toBe(200);
    await waitFor(async () => (await ingests()).length === 0, { what: "the work on it to end" });
    expectProblem(await kbs.call(`/${kbId}/documents/${id}`), "not_found");
    expectProblem(await kbs.call(`/${kbId}/documents/${id}`, { method: "DELETE" }), "not_found");
    expect(await documents()).toEqual([]);
    expect(await kbs.search(kbId, "visitors park")).toEqual([]);
  });

  test("200: lists are paged, newest first", async () => {
    const parts = Array.from({ length: 5 }, (_, index) => ({
      name: "f",
      filename: `${index}.txt`,
      body: `text ${index}`,
    }));
    const made = documentsOf(await sendForm(parts));
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await kbs.call(`/${kbId}/documents?limit=2&cursor=${cursor}`);
      seen.push(...documentsOf(page).map(({ key }) => key));
      cursor = cursorOf(page);
    }
    expect(seen).toEqual(["4.txt", "3.txt", "2.txt", "1.txt", "0.txt"]);
    for (const { id } of made) await kbs.settled(kbId, id);
  });
});
