import type { Zip } from "./open-zip.ts";
import { readXml } from "./read-xml.ts";
import { sensibleTitle } from "./sensible-title.ts";

/** The title in the properties of an Office file (ECMA-376 part 2, core properties), or null. */
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
