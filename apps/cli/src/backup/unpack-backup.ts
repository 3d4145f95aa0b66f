import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { errorCode } from "@svc/primitives";
import { BackupFileError } from "./backup-file-error.ts";

const CHUNK_BYTES = 262_144;

/** What zlib says of a file that ends too early, and of one that is not as it was written. */
const ZLIB_FAULTS: Readonly<Record<string, (isBegun: boolean, cause: unknown) => BackupFileError>> = {
  Z_BUF_ERROR: (_, cause) => new BackupFileError("cut_off", "The file is truncated.", { cause }),
  Z_DATA_ERROR: (isBegun, cause) =>
    isBegun
      ? new BackupFileError("damaged", "The file is damaged: it cannot be decompressed.", { cause })
      : new BackupFileError("no_backup", "This is not a backup of this product.", { cause }),
};

/** The bytes of a backup, unpacked as they are read. Throws BackupFileError, and what reading throws. */
export async function* unpackBackup(packed: Readable): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // What it rejects with is thrown below as well, by what is unpacked; this is only its end.
  const ended = pipeline(packed, gunzip).catch(() => undefined);
  let isBegun = false;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      isBegun = true;
      yield piece;
    }
  } catch (error) {
    const code = errorCode(error);
    const explain = code === undefined ? undefined : ZLIB_FAULTS[code];
    throw explain?.(isBegun, error) ?? error;
  } finally {
    gunzip.destroy();
    await ended;
  }
}
