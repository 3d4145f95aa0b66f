import PdfKit from "pdfkit";

/** Draws a page of a PDF. */
export type Draw = (document: PDFKit.PDFDocument) => void;

/** Returns a PDF whose pages are drawn one by one; `options` are those of pdfkit, such as `userPassword`. */
export function makePdf(pages: readonly Draw[], options: PDFKit.PDFDocumentOptions = {}): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const document = new PdfKit({ size: "A4", margin: 72, ...options, autoFirstPage: false });
    const pieces: Buffer[] = [];
    document.on("data", (piece: Buffer) => pieces.push(piece));
    document.on("end", () => resolve(Buffer.concat(pieces)));
    document.on("error", reject);
    for (const draw of pages) {
      document.addPage();
      draw(document);
    }
    document.end();
  });
}

/** Returns a PDF of one page whose content is this deflated stream. */
export function makeRawPdf(deflated: Uint8Array): Uint8Array {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>",
    Buffer.concat([
      Buffer.from(`<</Length ${deflated.length}/Filter/FlateDecode>>stream\n`),
      deflated,
      Buffer.from("\nendstream"),
    ]),
  ];
  const pieces = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let length = pieces[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    const piece = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]);
    offsets.push(length);
    length += piece.length;
    pieces.push(piece);
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  pieces.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF`,
    ),
  );
  return Buffer.concat(pieces);
}
