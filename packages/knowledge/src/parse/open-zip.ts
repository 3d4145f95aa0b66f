import { StringDecoder } from "node:string_decoder";
import { fromBufferPromise } from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import sax from "sax";
import { fileError, fileTooLarge, formatMb, sensibleTitle } from "../ingest-file.ts";
import type { ReadLimits } from "./read-limits.ts";

/** The files in an archive, each unpacked on request. */
export interface Zip {
  has(path: string): boolean;
  /** Paths of all files. */
  paths(): string[];
  /** Unpacks a file piece by piece; yields nothing for a missing path. */
  stream(path: string): AsyncGenerator<Buffer>;
  /** Unpacks a whole file, up to `zipPartBytes`; null for a missing path. */
  bytes(path: string): Promise<Buffer | null>;
}

/** Minimum size at which the compression ratio is checked: small XML files compress well without being an attack. */
const RATIO_FROM_BYTES = 10 * 1024 * 1024;

/**
 * Opens the archive of an Office file. Its directory is checked before anything is unpacked, and the unpacked bytes are
 * counted as well, because a directory can be wrong. Throws a `ServiceError`: `truncated`, `damaged` or `encrypted`, or
 * `payload_too_large` for a bomb.
 */
export async function openZip(file: { name: string; bytes: Uint8Array }, limits: ReadLimits): Promise<Zip> {
  const { name } = file;
  const zip = await openDirectory(file);
  if (zip.entryCount > limits.zipEntries) {
    throw fileTooLarge(name, `contains ${zip.entryCount} files; the maximum is ${limits.zipEntries}; save it again`);
  }
  const entries = await readDirectory(zip, name);
  const tooLarge = () =>
    fileTooLarge(name, `unpacks to more than ${formatMb(limits.zipBytes)}, the maximum; split it into several files`);
  let stated = 0;
  for (const entry of entries.values()) {
    stated += entry.uncompressedSize;
    if (stated > limits.zipBytes) throw tooLarge();
    const isBomb =
      entry.uncompressedSize > RATIO_FROM_BYTES && entry.uncompressedSize > entry.compressedSize * limits.zipRatio;
    if (isBomb) {
      throw fileTooLarge(
        name,
        `unpacks to more than ${limits.zipRatio} times its size, which is not plausible; save it again`,
      );
    }
    if (entry.isEncrypted())
      throw fileError(name, "encrypted", "is password-protected; remove the password and add it again");
  }
  let unpacked = 0;

  async function* stream(path: string): AsyncGenerator<Buffer> {
    const entry = entries.get(path);
    if (entry === undefined) return;
    try {
      for await (const piece of await zip.openReadStreamPromise(entry)) {
        const bytes = piece as Buffer;
        unpacked += bytes.length;
        if (unpacked > limits.zipBytes) throw tooLarge();
        yield bytes;
      }
    } catch (error) {
      // yauzl and zlib throw plain errors: more or fewer bytes than the directory states, or invalid compressed data.
      throw isZipError(error) ? damaged(name, error) : error;
    }
  }

  return {
    has: (path) => entries.has(path),
    paths: () => [...entries.keys()],
    stream,
    async bytes(path) {
      const entry = entries.get(path);
      if (entry === undefined) return null;
      if (entry.uncompressedSize > limits.zipPartBytes) {
        throw fileTooLarge(name, `has a part of more than ${formatMb(limits.zipPartBytes)}, the maximum; split it`);
      }
      const pieces: Buffer[] = [];
      for await (const piece of stream(path)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
  };
}

function isZipError(error: unknown): boolean {
  return error instanceof Error && (error.constructor === Error || "code" in error) && error.name === "Error";
}

function damaged(name: string, cause: unknown): Error {
  return fileError(
    name,
    "damaged",
    "is damaged: it cannot be decompressed; open it, save it again and add that file",
    cause,
  );
}

async function openDirectory(file: { name: string; bytes: Uint8Array }): Promise<ZipFile> {
  try {
    const { buffer, byteOffset, byteLength } = file.bytes;
    return await fromBufferPromise(Buffer.from(buffer, byteOffset, byteLength), { lazyEntries: true });
  } catch (error) {
    throw fileError(file.name, "truncated", "is truncated: its end is missing; copy or download it again", error);
  }
}

async function readDirectory(zip: ZipFile, name: string): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith("/")) entries.set(entry.fileName, entry);
    }
  } catch (error) {
    throw damaged(name, error);
  }
  return entries;
}

/** Handlers of an XML stream; names have no namespace prefix. */
interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  /** Text may arrive in several pieces. */
  text?(text: string): void;
  close?(name: string): void;
}

/**
 * Parses XML while it is unpacked; only the handlers keep data. Custom entities are not expanded. Throws `damaged` for
 * invalid XML.
 */
export async function readXml(
  pieces: AsyncIterable<Buffer>,
  file: { name: string },
  handlers: XmlHandlers,
): Promise<void> {
  const decoder = new StringDecoder("utf8");
  const xml = sax.parser(true, { position: false });
  Object.assign(xml, {
    onopentag: ({ name, attributes }: { name: string; attributes: Record<string, string> }) => {
      handlers.open?.(localName(name), attributes);
    },
    ontext: (text: string) => handlers.text?.(text),
    oncdata: (text: string) => handlers.text?.(text),
    onclosetag: (name: string) => handlers.close?.(localName(name)),
    onerror: (error: Error) => {
      throw fileError(
        file.name,
        "damaged",
        "is damaged: a part of it is not valid XML; open it, save it again and add that file",
        error,
      );
    },
  });
  let isEmpty = true;
  for await (const piece of pieces) {
    isEmpty = false;
    xml.write(decoder.write(piece));
  }
  if (!isEmpty) xml.close();
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Returns the title in the properties of an Office file (ECMA-376 part 2, core properties), or null. */
export async function readCoreTitle(zip: Zip, file: { name: string }): Promise<string | null> {
  let isTitle = false;
  let title = "";
  await readXml(zip.stream("docProps/core.xml"), file, {
    open: (name) => {
      isTitle = name === "title";
    },
    text: (text) => {
      if (isTitle && title.length < 1_000) title += text;
    },
    close: () => {
      isTitle = false;
    },
  });
  return sensibleTitle(title);
}
