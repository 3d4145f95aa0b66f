const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
/** 1980-01-01 00:00, the earliest time of the format: time 0, and a date with year 0, month 1, day 1. */
const FIRST_TIME = 0;
const FIRST_DATE = 0x21;

/**
 * Sets the modification time of every entry of a ZIP archive (without comment, as JSZip writes it) to 1980-01-01, in
 * place, and returns the archive. The library writes the current time, which would make the bytes of the same table
 * differ. Throws if the bytes are not such an archive. Source: PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and
 * 4.3.16.
 */
export function fixZipDates(archive: Buffer): Buffer {
  const end = archive.length - END_BYTES;
  if (end < 0 || archive.readUInt32LE(end) !== END_SIGNATURE) throw new Error("not a ZIP archive without a comment");
  const entries = archive.readUInt16LE(end + 10);
  let entry = archive.readUInt32LE(end + 16);
  for (let index = 0; index < entries; index++) {
    if (archive.readUInt32LE(entry) !== ENTRY_SIGNATURE) throw new Error("the ZIP archive's directory is damaged");
    archive.writeUInt16LE(FIRST_TIME, entry + 12);
    archive.writeUInt16LE(FIRST_DATE, entry + 14);
    const local = archive.readUInt32LE(entry + 42);
    archive.writeUInt16LE(FIRST_TIME, local + 10);
    archive.writeUInt16LE(FIRST_DATE, local + 12);
    const nameBytes = archive.readUInt16LE(entry + 28);
    const extraBytes = archive.readUInt16LE(entry + 30);
    const commentBytes = archive.readUInt16LE(entry + 32);
    entry += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
  }
  return archive;
}
