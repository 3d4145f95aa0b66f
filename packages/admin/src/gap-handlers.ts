import type { GapArticle, GapChange, gapEndpoints } from "@svc/contracts";
import { getGap, listGaps, updateGap, writeGapArticle } from "@svc/operations";
import type { GapListInput } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Questions that found no good answer. */
export const gapHandlers: AdminHandlers<typeof gapEndpoints> = {
  async listGaps(context, { principal, listQuery, query }) {
    const input = { ...listQuery(), status: query("status"), sort: query("sort") } as GapListInput;
    return { list: await listGaps(context, principal, input) };
  },
  async getGap(context, { principal, param }) {
    const item = await getGap(context, principal, param());
    return { item, version: item.version };
  },
  async updateGap(context, { principal, param, body, ifMatch }) {
    const item = await updateGap(context, principal, param(), (await body()) as GapChange, ifMatch());
    return { item, version: item.version };
  },
  async writeGapArticle(context, { principal, param, body, ifMatch }) {
    const article = (await body()) as GapArticle;
    const { item, isReplacement } = await writeGapArticle(context, principal, param(), article, ifMatch());
    if (isReplacement) return { item, version: item.version };
    const { kbId, documentId } = item.article ?? { kbId: "", documentId: "" };
    return { item, location: `/api/v1/admin/kb/${kbId}/documents/${documentId}`, version: item.version };
  },
};
