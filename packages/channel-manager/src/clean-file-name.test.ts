import { describe, expect, test } from "@jest/globals";
import { WIDGET_LIMITS } from "@svc/contracts";
import fc from "fast-check";
import { cleanFileName } from "./clean-file-name.ts";

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
