import { LIMITS } from "./limits.ts";
import type { Texts } from "./locales/create-texts.ts";

/** Returns the text of an error, with the limits in its placeholders. */
export const errorText = (texts: Texts, name: string) =>
  texts.text(name, { size: texts.size(LIMITS.fileMaxBytes), count: LIMITS.attachmentsMaxCount });
