import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import type { StoreCopy } from "@svc/store";
import fc from "fast-check";
import { writeBackup } from "./make-backup.ts";
import { BackupFileError, readBackup, unpackBackup } from "./read-backup.ts";

const HEAD: StoreCopy["head"] = {
  takenAt: "2026-11-22T12:00:00.000Z",
  postgres: "18.4",
  migrations: ["0001_core"],
  secretKeyCheck: "v1.abc",
};

type Tables = Record<string, Buffer[]>;

/** Returns a copy with these rows, in chunks as from a database. */
function copyOf(tables: Tables): StoreCopy {
  return {
    head: HEAD,
    async *tables() {
      for (const [name, pieces] of Object.entries(tables)) {
        yield { table: { name, columns: ["id"], sequences: { id: 7 } }, rows: Readable.from(pieces) };
        await Promise.resolve();
      }
    },
  };
}

async function write(tables: Tables): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const options = {
    program: "0.1.0",
    sealer: { seal: (text: string) => ({ sealed: `sealed ${text}` }) },
    onTable: () => undefined,
    onTotal: () => undefined,
  };
  for await (const piece of writeBackup(copyOf(tables), options)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Yields chunks of this size. */
async function* cut(bytes: Buffer, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
  await Promise.resolve();
}

async function read(pieces: AsyncIterable<Buffer>): Promise<Record<string, string>> {
  const backup = await readBackup(pieces);
  expect(backup.head).toMatchObject(HEAD);
  const tables: Record<string, string> = {};
  for await (const { table, rows } of backup.tables()) {
    expect(table).toEqual({ name: table.name, columns: ["id"], sequences: { id: 7 } });
    let text = "";
    for await (const piece of rows) text += piece.toString("latin1");
    tables[table.name] = text;
  }
  return tables;
}

const errorOf = (reading: Promise<unknown>): Promise<string> =>
  reading.then(
    () => "none",
    (error: unknown) => (error instanceof BackupFileError ? error.code : `another: ${String(error)}`),
  );

/** Rows as COPY writes them: no backslash is followed by a full stop. */
const rowArbitrary = fc
  .string({ unit: fc.constantFrom("a", "\\\\", "\\n", "\\N", "\t", ".", "é", "#", "#end {") })
  .map((text) => `${text}\n`);

describe("a backup", () => {
  test("returns every row as written, for any chunks of its bytes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.array(rowArbitrary, { maxLength: 8 }), { maxKeys: 4 }),
        fc.integer({ min: 1, max: 50 }),
        async (rowsOf, sizeBytes) => {
          const tables = Object.fromEntries(
            Object.entries(rowsOf).map(([name, rows]) => [name, rows.map((row) => Buffer.from(row))]),
          );
          const expected = Object.fromEntries(
            Object.entries(tables).map(([name, rows]) => [name, Buffer.concat(rows).toString("latin1")]),
          );
          expect(await read(cut(await write(tables), sizeBytes))).toEqual(expected);
        },
      ),
    );
  });

  test("is rejected if truncated anywhere, compressed or not", async () => {
    const bytes = await write({ one: [Buffer.from("1\n2\n")], two: [], three: [Buffer.from("\\\\.\n\\N\n")] });
    const errors = new Set<string>();
    for (let end = 0; end < bytes.length; end++) errors.add(await errorOf(read(cut(bytes.subarray(0, end), 64))));
    expect([...errors].sort()).toEqual(["cut_off", "no_backup"]);
    const packed = gzipSync(bytes);
    const packedErrors = new Set<string>();
    for (let end = 0; end < packed.length; end++) {
      packedErrors.add(await errorOf(read(unpackBackup(Readable.from([packed.subarray(0, end)])))));
    }
    expect([...packedErrors]).toEqual(["cut_off"]);
  });

  test("is rejected if any byte is changed", async () => {
    const bytes = await write({ one: [Buffer.from("1\tx\n2\ty\n")], two: [Buffer.from("3\n")] });
    const seal = bytes.indexOf('"seal"');
    for (let at = 0; at < bytes.length; at++) {
      // The seal itself is checked with the key.
      if (at >= seal) break;
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect([at, await errorOf(read(cut(changed, 1_000)))]).not.toEqual([at, "none"]);
    }
  });

  test("is rejected with missing rows, missing tables, or anything after its end", async () => {
    const bytes = await write({ one: [Buffer.from("1\n2\n")], two: [Buffer.from("3\n")] });
    const text = bytes.toString("utf8");
    const one = text.slice(text.indexOf("#table"), text.indexOf("#table", text.indexOf("#table") + 1));
    for (const changed of [
      text.replace("1\n", ""),
      text.replace(one, ""),
      text.replace("3\n", "3\n4\n"),
      `${text}\n`,
    ]) {
      expect(await errorOf(read(cut(Buffer.from(changed), 1_000)))).toBe("damaged");
    }
    // Even with matching hashes: the last line also has the number of tables and rows.
    const lines = text.replace(one, "");
    const body = lines.slice(0, lines.indexOf("#total"));
    const sha256 = createHash("sha256").update(body).digest("hex");
    const total = { tables: 2, rows: 3, sha256, seal: "" };
    expect(await errorOf(read(cut(Buffer.from(`${body}#total ${JSON.stringify(total)}\n`), 99)))).toBe("damaged");
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["a text", Buffer.from("hello\n")],
    ["a large binary file", Buffer.alloc(3_000_000, 7)],
  ])("is told from %s", async (_, bytes) => {
    expect(await errorOf(read(cut(bytes, 65_536)))).toBe("no_backup");
    expect(["no_backup", "cut_off"]).toContain(await errorOf(read(unpackBackup(Readable.from([bytes])))));
  });

  test("of a later format is rejected with the advice to use a newer program", async () => {
    const text = (await write({})).toString("utf8").replace('"format":1', '"format":2');
    await expect(read(cut(Buffer.from(text), 1_000))).rejects.toThrow("newer version of the product");
  });
});
