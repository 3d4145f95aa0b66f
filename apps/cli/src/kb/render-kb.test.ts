import { describe, expect, test } from "@jest/globals";
import type { DocumentItem, KbItem } from "@svc/contracts";
import {
  renderAdded,
  renderLinksOut,
  renderNames,
  renderSkipped,
  renderSummary,
  summarize,
  renderDocuments,
  renderHits,
  renderKbs,
  renderSize,
  watchProgress,
} from "./render-kb.ts";
import type { AddedFile } from "./render-kb.ts";
import { createTerminal } from "../terminal.ts";

const HOSTILE = "\u001b[2Jbad\u202e\u0007";
// oxlint-disable-next-line no-control-regex -- Matches the characters that must not occur.
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

function open({ isTTY = false, isJson = false } = {}) {
  const written = { stdout: "", stderr: "" };
  const terminal = createTerminal({
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text), isTTY, columns: 60 },
    isJson,
    env: {},
  });
  return { terminal, written };
}

const { terminal } = open();
const done = (file: string): AddedFile => ({ file, status: "added", chunks: 3, documentId: "id", key: file });
const failed = (file: string, error = "no"): AddedFile => ({ file, status: "failed", error });

describe("added files are shown", () => {
  test("one by one with their passages, or the error", () => {
    const table = renderAdded([done("a.md"), failed("b.md", "it is empty")], terminal);
    expect(table).toMatch(/^FILE +PASSAGES +RESULT\na\.md +3 +added\nb\.md +failed: it is empty$/);
  });

  test("only as failures if there are very many, and not at all if none failed", () => {
    const many = Array.from({ length: 31 }, (_, index) => done(`${index}.md`));
    expect(renderAdded(many, terminal)).toBeNull();
    expect(renderAdded([...many, failed("x.md")], terminal)?.split("\n")).toHaveLength(2);
  });

  test("in total, with skipped files", () => {
    expect(renderSummary(summarize([done("a"), done("b"), failed("c")]))).toBe("2 added, 1 failed.");
    expect(renderSummary(summarize([]))).toBe("Nothing to do.");
    expect(renderSkipped({ "": 1, ".png": 3 })).toBe("Skipped 4 unsupported files: .png 3, no extension 1.");
    expect(renderSkipped({})).toBeNull();
    expect(renderLinksOut([])).toBeNull();
    expect(renderLinksOut(["a"])).toBe("Skipped 1 link that leads out of the folder: a.");
    expect(renderNames(Array.from({ length: 12 }, () => "b"))).toMatch(/^(?:b, ){10}and 2 more$/);
  });
});

test("escapes external names, titles, texts and reasons for the terminal", () => {
  const at = "2026-11-21T14:20:53.394Z";
  const kb: KbItem = {
    id: "id",
    name: HOSTILE,
    project: "default",
    documents: 1,
    chunks: 1,
    queued: 1,
    failed: 1,
    status: "ready",
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  const document: DocumentItem = {
    id: "id",
    kbId: "id",
    key: HOSTILE,
    title: HOSTILE,
    url: null,
    mime: "text/plain",
    bytes: 1,
    language: null,
    chunks: 1,
    status: "failed",
    error: HOSTILE,
    updatedAt: at,
  };
  const hit = {
    kb: HOSTILE,
    documentId: "id",
    chunkId: "id",
    title: HOSTILE,
    url: `https://example.com/${HOSTILE}`,
    ordinal: 0,
    headingPath: [HOSTILE],
    text: HOSTILE,
    markdown: true,
    score: 1,
  };
  const watched = open();
  const progress = watchProgress(watched.terminal, 1);
  progress.begin(HOSTILE);
  progress.end(failed(HOSTILE, HOSTILE), 1);
  const shown = [
    renderKbs([kb], terminal),
    renderDocuments([document], terminal),
    renderHits([hit], terminal),
    renderAdded([failed(HOSTILE, HOSTILE)], terminal) ?? "",
    renderSkipped({ [HOSTILE]: 1 }) ?? "",
    renderLinksOut([HOSTILE]) ?? "",
    watched.written.stderr,
  ];
  for (const text of shown) {
    expect(text).toContain("bad");
    expect(text).not.toMatch(UNSAFE);
  }
});

describe("the progress of adding files", () => {
  test("is one line that is updated on a terminal, and removed at the end", () => {
    const { terminal: watched, written } = open({ isTTY: true });
    const progress = watchProgress(watched, 2);
    progress.begin("a.md");
    progress.end(done("a.md"), 2_048);
    progress.begin("b.md");
    watched.note("A remark.");
    progress.close();
    expect(written.stderr.split("\r\u001b[2K")).toEqual([
      "",
      "[....................] 1 of 2, 0 bytes  a.md",
      "[##########..........] 2 of 2, 2 KB  b.md",
      "A remark.\n[##########..........] 2 of 2, 2 KB  b.md",
      "",
    ]);
  });

  test.each([{ isTTY: false }, { isTTY: true, isJson: true }])("is a line for each file elsewhere: %j", (options) => {
    const { terminal: unwatched, written } = open(options);
    const progress = watchProgress(unwatched, 2);
    for (const file of [done("a.md"), failed("b.md", "it is empty")]) {
      progress.begin(file.file);
      progress.end(file, 5);
    }
    progress.close();
    expect(written.stderr).toBe("1 of 2  a.md (5 bytes)  added\n2 of 2  b.md (5 bytes)  failed: it is empty\n");
  });

  test("has sizes in readable units", () => {
    expect([0, 1_023, 1_024, 1_048_575, 1_048_576, 52_428_800].map(renderSize)).toEqual([
      "0 bytes",
      "1023 bytes",
      "1 KB",
      "1024 KB",
      "1.0 MB",
      "50.0 MB",
    ]);
  });
});
