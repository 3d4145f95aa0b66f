import { sensibleTitle } from "./file-text.ts";
import type { Zip } from "./open-zip.ts";
import { StringDecoder } from "node:string_decoder";
import sax from "sax";
import { fileError } from "./file-error.ts";

/** Handlers of an XML stream; names have no namespace prefix. */
export interface XmlHandlers {
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
