import type { KbItem } from "@svc/contracts";

/** The knowledge base that comes with the service: its own guide. */
export const GUIDE_KB = "guide";

/** The knowledge base that was made for one's own documents; undefined where there is none yet. */
export const ownKb = (kbs: readonly KbItem[]): KbItem | undefined =>
  kbs.find(({ documents, name }) => name !== GUIDE_KB && documents > 0) ?? kbs.find(({ name }) => name !== GUIDE_KB);
