import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { READ_LIMITS, createFileReader } from "@svc/knowledge";
import type { FileReader } from "@svc/knowledge";
import { repositoryPath, spawnChild } from "@svc/testing";
import { docxParagraph, lieAboutSize, makeDocx, makeXlsx, zipParts } from "./make-office-files.ts";
import { makePdf, makeRawPdf } from "./make-pdf.ts";

const MB = 1024 * 1024;

let reader: FileReader;

beforeAll(() => {
  reader = createFileReader();
});

afterAll(async () => {
  await reader.close();
});

afterEach(async () => {
  // Whatever a file did, the next one can be read.
  const { text } = await reader.read({ name: "next.md", bytes: Buffer.from("# Next") });
  expect(text).toBe("# Next");
});

/** Returns why a file is rejected: its code, the code of the error, and the sentence. */
async function rejectionOf(name: string, content: string | Uint8Array, by: FileReader = reader) {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const error: unknown = await by.read({ name, bytes }).then(
    ({ text }) => new Error(`was read: ${text.slice(0, 80)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw error;
  expect(error.message.startsWith(`"${name}" `)).toBe(true);
  const [problem] = error.errors ?? [];
  if (problem !== undefined) expect(problem.pointer).toBe("/file");
  return [error.code, problem?.code ?? null, error.message] as const;
}

describe("a file that is not text is rejected with its type, and what to do", () => {
  const ole = (stream: string) =>
    Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(512), Buffer.from(stream, "utf16le")]);
  const cases: [name: string, content: string | Uint8Array, code: string, fault: string | null, says: RegExp][] = [
    ["empty.pdf", "", "invalid_request", "empty", /is empty/],
    ["blank.txt", " \n\t\n", "invalid_request", "empty", /contains no text/],
    ["old.doc", ole("WordDocument"), "unsupported_media_type", null, /Word file.+save it as \.docx/],
    ["old.xls", ole("Workbook"), "unsupported_media_type", null, /Excel file.+save it as \.xlsx/],
    ["old.ppt", ole("PowerPoint Document"), "unsupported_media_type", null, /PowerPoint file.+save it as \.pdf/],
    ["locked.docx", ole("EncryptedPackage"), "invalid_request", "encrypted", /password-protected; remove/],
    ["photo.txt", Buffer.from("89504e470d0a1a0a", "hex"), "unsupported_media_type", null, /PNG image/],
    ["files.zip", zipParts({ "a.txt": "text" }), "unsupported_media_type", null, /ZIP archive; extract it/],
    ["slides.pptx", zipParts({ "ppt/presentation.xml": "<p/>" }), "unsupported_media_type", null, /export it as PDF/],
    ["data.json", '{"a": 1}', "unsupported_media_type", null, /JSON.+convert it/],
    ["feed.xml", "<?xml version='1.0'?><rss/>", "unsupported_media_type", null, /XML.+convert it/],
    ["letter.rtf", "{\\rtf1 hello}", "unsupported_media_type", null, /save it as \.docx/],
    [
      "noise.txt",
      Uint8Array.from({ length: 4_000 }, (_, index) => (index * 7_919) % 251),
      "invalid_request",
      "binary",
      /binary data/,
    ],
    [
      "app.html",
      "<html><body><div id=root></div><noscript>Enable scripts</noscript></body>",
      "invalid_request",
      "no_text",
      /built by scripts/,
    ],
  ];

  test.each(cases)("%s", async (name, content, code, error, says) => {
    expect(await rejectionOf(name, content)).toEqual([code, error, expect.stringMatching(says)]);
  });
});

describe("encrypted, truncated and damaged files", () => {
  test("a PDF with a password, one of scanned pages, a truncated one and an invalid one", async () => {
    const locked = await makePdf([(document) => document.text("secret")], { userPassword: "x" });
    const scanned = await makePdf([(document) => document.rect(0, 0, 100, 100).fill("red")]);
    const long = await makePdf([(document) => document.text("words ".repeat(500))], { compress: false });
    expect(await rejectionOf("locked.pdf", locked)).toEqual([
      "invalid_request",
      "encrypted",
      expect.stringMatching(/password/),
    ]);
    expect(await rejectionOf("scan.pdf", scanned)).toEqual([
      "invalid_request",
      "no_text",
      expect.stringMatching(/text recognition/),
    ]);
    expect(await rejectionOf("cut.pdf", long.subarray(0, long.length / 2))).toEqual([
      "invalid_request",
      "truncated",
      expect.stringMatching(/truncated/),
    ]);
    expect(await rejectionOf("not.pdf", `%PDF-1.7\n${"garbage ".repeat(100)}%%EOF`)).toEqual([
      "invalid_request",
      "damaged",
      expect.stringMatching(/not a valid PDF/),
    ]);
  });

  test("a truncated DOCX, and one whose parts are not XML", async () => {
    const docx = makeDocx(docxParagraph("Some text that is there."));
    expect(await rejectionOf("cut.docx", docx.subarray(0, docx.length - 200))).toEqual([
      "invalid_request",
      "truncated",
      expect.stringMatching(/truncated/),
    ]);
    expect(await rejectionOf("bad.docx", makeDocx("", { "word/document.xml": "no XML" }))).toEqual([
      "invalid_request",
      "damaged",
      expect.stringMatching(/save it again/),
    ]);
    expect(await rejectionOf("bad.xlsx", makeXlsx("<row><c><v>1</row>"))).toEqual([
      "invalid_request",
      "damaged",
      expect.stringMatching(/save it again/),
    ]);
  });
});

describe("size", () => {
  test("a PDF of 300 MB is rejected before it is read", async () => {
    expect(await rejectionOf("huge.pdf", new Uint8Array(300 * MB))).toEqual([
      "payload_too_large",
      null,
      '"huge.pdf" is 300 MB; the maximum is 50 MB; split it into several files.',
    ]);
  });

  test("decompression bombs are rejected by their declared size, or by their actual size if they lie", async () => {
    const dense = makeDocx("", { "word/document.xml": new Uint8Array(12 * MB) });
    const bomb = lieAboutSize(dense, "word/document.xml", 300 * MB);
    expect(await rejectionOf("bomb.docx", bomb)).toEqual([
      "payload_too_large",
      null,
      expect.stringMatching(/more than 200 MB/),
    ]);
    expect(await rejectionOf("dense.docx", dense)).toEqual([
      "payload_too_large",
      null,
      expect.stringMatching(/500 times/),
    ]);
    const lying = lieAboutSize(dense, "word/document.xml", 1_000);
    expect(await rejectionOf("liar.docx", lying)).toEqual([
      "invalid_request",
      "damaged",
      expect.stringMatching(/cannot be decompressed/),
    ]);
    const many = zipParts(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, ""])));
    expect(await rejectionOf("many.docx", many)).toEqual([
      "payload_too_large",
      null,
      expect.stringMatching(/10001 files/),
    ]);
  });

  test("a PDF stream that decompresses to gigabytes affects only its file", async () => {
    const stream = deflateSync(Buffer.alloc(40 * MB, " "));
    expect(await rejectionOf("bomb.pdf", makeRawPdf(stream))).toEqual([
      "invalid_request",
      "too_complex",
      expect.stringMatching(/memory/),
    ]);
  });

  test("an XLSX with a million empty cells is read", async () => {
    const cells = Array.from({ length: 1_000 }, (_, column) => `<c r="A${column}" s="1"/>`).join("");
    const last = `<row><c r="XFD1001" t="inlineStr"><is><t>the only value</t></is></c></row>`;
    const sparse = makeXlsx(`${`<row>${cells}</row>`.repeat(1_000)}${last}`, {});
    expect((await reader.read({ name: "sparse.xlsx", bytes: sparse })).text).toBe(
      "## Data\n\n| the only value |\n| --- |",
    );
  });

  test("HTML of 50 MB is rejected by its number of tags, and HTML nested 10,000 deep keeps its text", async () => {
    expect(await rejectionOf("huge.html", "<p>x</p>".repeat(6_000_000))).toEqual([
      "payload_too_large",
      null,
      expect.stringMatching(/400000 tags/),
    ]);
    for (const tag of ["div", "b", "table><tr><td", "ul><li"]) {
      const { text } = await reader.read({
        name: "deep.html",
        bytes: Buffer.from(`${`<${tag}>`.repeat(10_000)}deep text`),
      });
      expect(text).toContain("deep text");
    }
  });

  test("text, values and pages beyond the limits are rejected with the limit", async () => {
    const pages = await makePdf([() => undefined, () => undefined, (document) => document.text("three")]);
    const workbook = makeXlsx(`<row>${"<c><v>7</v></c>".repeat(11)}</row>`);
    const small = createFileReader({ limits: { textBytes: 1_000, cells: 10, pages: 2 } });
    try {
      expect(await rejectionOf("long.txt", "word ".repeat(300), small)).toEqual([
        "payload_too_large",
        null,
        expect.stringMatching(/of text/),
      ]);
      expect(await rejectionOf("wide.csv", "a,b\n".repeat(6), small)).toEqual([
        "payload_too_large",
        null,
        expect.stringMatching(/10 values/),
      ]);
      expect(await rejectionOf("wide.xlsx", workbook, small)).toEqual([
        "payload_too_large",
        null,
        expect.stringMatching(/10 cells/),
      ]);
      expect(await rejectionOf("long.pdf", pages, small)).toEqual([
        "invalid_request",
        "too_many_pages",
        expect.stringMatching(/3 pages; the maximum is 2;/),
      ]);
    } finally {
      await small.close();
    }
  });
});

describe("a terminated worker", () => {
  test("is terminated by default within 45 seconds, and within 15 seconds of CPU time for a file of 1.5 MB", () => {
    const { timeoutMs, timeoutBaseMs, timeoutPerMbMs } = READ_LIMITS;
    expect(timeoutMs).toBeLessThanOrEqual(45_000);
    expect(timeoutBaseMs + 1.5 * timeoutPerMbMs).toBeLessThanOrEqual(15_000);
  });

  test("fails only the file that took too much time or memory, and the following files are read", async () => {
    const attributes = `<p ${Array.from({ length: 200_000 }, (_, index) => `a${index}`).join(" ")}>x`;
    const slow = createFileReader({ limits: { timeoutMs: 500 } });
    const narrow = createFileReader({ limits: { heapMb: 32 } });
    try {
      const paragraphs = "<p>some <b>text</b> in a paragraph</p>".repeat(60_000);
      const [late, large, after] = await Promise.all([
        rejectionOf("slow.html", attributes, slow),
        rejectionOf("large.html", paragraphs, narrow),
        narrow.read({ name: "after.txt", bytes: Buffer.from("fine") }),
      ]);
      expect(late).toEqual(["invalid_request", "too_slow", expect.stringMatching(/takes too long to read/)]);
      expect(large).toEqual(["invalid_request", "too_complex", expect.stringMatching(/memory/)]);
      expect(after.text).toBe("fine");
    } finally {
      await Promise.all([slow.close(), narrow.close()]);
    }
  });

  test("an aborted file throws its reason, and a closed reader reports that it is shutting down", async () => {
    const stopping = createFileReader();
    const file = { name: "a.html", bytes: Buffer.from("<p>text</p>".repeat(50_000)) };
    const reason = new Error("no longer wanted");
    await expect(stopping.read(file, AbortSignal.abort(reason))).rejects.toBe(reason);
    const open = expect(stopping.read(file)).rejects.toMatchObject({ code: "unavailable" });
    await stopping.close();
    await open;
    await expect(stopping.read(file)).rejects.toMatchObject({ code: "unavailable" });
  });
});

const isSoak = process.env["SVC_SOAK"] === "1";

test("the process stays within the documented memory limit while it reads a bomb, a huge page and a full workbook", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-test-read-"));
  try {
    const files = {
      "bomb.docx": lieAboutSize(
        makeDocx("", { "word/document.xml": new Uint8Array(12 * MB) }),
        "word/document.xml",
        1_000,
      ),
      "huge.html": Buffer.from(`<p>${"lorem ipsum dolor ".repeat(isSoak ? 2_700_000 : 540_000)}</p>`),
      "full.xlsx": makeXlsx(`<row>${"<c><v>7</v></c>".repeat(1_000)}</row>`.repeat(1_000)),
      "bomb.pdf": makeRawPdf(deflateSync(Buffer.alloc(40 * MB, " "))),
    };
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    const script = join(folder, "read.mjs");
    await writeFile(
      script,
      `import { readFileSync } from "node:fs";
       import { createFileReader } from ${JSON.stringify(repositoryPath("packages/knowledge/dist/index.js"))};
       const reader = createFileReader();
       const peakMb = () => process.resourceUsage().maxRSS / 1024;
       const from = peakMb();
       for (const name of ${JSON.stringify(Object.keys(files))}) {
         const bytes = readFileSync(${JSON.stringify(folder)} + "/" + name);
         await reader.read({ name, bytes }).then(() => console.log(name, "read"), (error) => console.log(name, error.code));
       }
       await reader.close();
       console.log("grown by", Math.round(peakMb() - from), "and left with", Math.round(process.memoryUsage.rss() / 1024 / 1024 - from));`,
    );
    const child = await spawnChild({ name: "reader", command: process.execPath, args: [script], env: {}, cwd: folder });
    const { code } = await child.exited;
    expect({ code, output: child.output() }).toMatchObject({ code: 0 });
    const [, peakMb, leftMb] = (/grown by (\d+) and left with (-?\d+)/.exec(child.output()) ?? []).map(Number);
    expect(peakMb).toBeLessThan(READ_LIMITS.processGrowthMb);
    expect(leftMb).toBeLessThan(READ_LIMITS.processGrowthMb / 4);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
