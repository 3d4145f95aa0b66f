import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { WIDGET_LIMITS } from "@svc/contracts";
import { cleanFileName, sniffMime } from "./received-files.ts";

describe("the name of a file", () => {
  test.each([
    ["report.pdf", "report.pdf"],
    ["Übersicht 2026 (neu).xlsx", "Übersicht 2026 (neu).xlsx"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\ann\\cv.docx", "cv.docx"],
    ["in\u202evoice\u202cfdp.exe", "invoicefdp.exe"],
    ["line\r\nSet-Cookie: a.txt", "lineSet-Cookie_ a.txt"],
    ["<img src=x onerror=alert(1)>.png", "_img src=x onerror=alert(1)_.png"],
    ["\u0000\u0007", "file"],
    ["...", "file"],
    ["", "file"],
    [`z${"\u0301".repeat(50)}.txt`, "ź\u0301\u0301\u0301.txt"],
    ["\ud800.txt", "\ufffd.txt"],
  ])("%j is shown as %j", (name, clean) => {
    expect(cleanFileName(name)).toBe(clean);
  });

  test("keeps its ending when it is cut", () => {
    const clean = cleanFileName(`${"é".repeat(5_000)}.pdf`);
    expect(clean).toMatch(/é\.pdf$/);
    expect(Array.from(clean).length).toBe(WIDGET_LIMITS.fileNameMaxChars);
  });

  test("is one short line of visible characters without folders, whatever it was, and stays as it is when cleaned again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const clean = cleanFileName(name);
        expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\/<>:"|?*]/u);
        expect(clean.isWellFormed()).toBe(true);
        expect(clean.trim()).toBe(clean);
        expect(Array.from(clean).length).toBeGreaterThan(0);
        expect(Array.from(clean).length).toBeLessThanOrEqual(WIDGET_LIMITS.fileNameMaxChars);
        expect(cleanFileName(clean)).toBe(clean);
      }),
    );
  });
});

const bytes = (...values: number[]) => Buffer.from(values);
const PNG = bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

describe("the type of a file", () => {
  test.each([
    ["a PNG", PNG, "image/png"],
    ["a JPEG", bytes(0xff, 0xd8, 0xff, 0xe0), "image/jpeg"],
    ["a WebP", Buffer.from("RIFF1234WEBPVP8 "), "image/webp"],
    ["a GIF", Buffer.from("GIF89a"), "image/gif"],
    ["a PDF", Buffer.from("%PDF-1.7"), "application/pdf"],
    ["an office document", bytes(0x50, 0x4b, 0x03, 0x04, 0x14), "application/zip"],
    ["HTML", Buffer.from("<!doctype html><script>alert(1)</script>"), "text/plain"],
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), "text/plain"],
    ["XML", Buffer.from('<?xml version="1.0"?><a/>'), "text/plain"],
    ["a script", Buffer.from("alert(document.cookie)"), "text/plain"],
    ["text in any language", Buffer.from("Größe, размер, 大きさ\r\n\t"), "text/plain"],
    ["text with a NUL", Buffer.from("a\u0000b"), "application/octet-stream"],
    ["no UTF-8", bytes(0xc3, 0x28), "application/octet-stream"],
    ["a program", bytes(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0), "application/octet-stream"],
    ["nothing", bytes(), "application/octet-stream"],
    ["the beginning of a PNG", PNG.subarray(0, 7), "application/octet-stream"],
  ])("%s is %j by its content", (_what, content, mime) => {
    expect(sniffMime(content)).toBe(mime);
  });

  test("is never one that a browser would run", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (content) => {
        expect(sniffMime(Buffer.from(content))).not.toMatch(/html|svg|xml|script|json|css/);
      }),
    );
  });
});
