import type { Project } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { callApi } from "./call-api.ts";
import { TARGETS } from "./endpoint-targets.ts";
import type { Product } from "./start-product.ts";

/** Ids of objects of one project that bodies can refer to. */
export interface BodyIds {
  /** Knowledge base of the agent, with the document. */
  kbId: string;
  /** A document that is ready. */
  documentId: string;
  /** A ticket that an operator has answered. */
  ticketId: string;
  /** An enabled agent. */
  agentId: string;
  customerId: string;
  tagId: string;
  gapId: string;
}

/** Creates objects that bodies can refer to, in a project whose agent's answers need review. */
export async function makeBodyIds(product: Product, project: Project): Promise<BodyIds> {
  const find = async (text: string, value: string) => {
    const check = async () => (await queryDatabase<{ id: string }>(product.databaseUrl, text, [value]))[0]?.id;
    return waitFor(check, { what: `a row of ${text}` });
  };
  const change = async (method: string, path: string, json: object) => {
    const [url] = product.composition.apiUrls;
    const request = { method, key: product.adminKey, project: project.name, json };
    const { status, text } = await callApi(`${url}/api/v1/admin${path}`, request);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
  };
  const [{ id: kbId, docId: documentId }, { id: ticketId }, { id: customerId }, { id: tagId }, { id: gapId }, agentId] =
    await Promise.all([
      TARGETS.document.make(product, project),
      TARGETS.ticketInReview.make(product, project),
      TARGETS.customer.make(product, project),
      TARGETS.tag.make(product, project),
      TARGETS.gap.make(product, project),
      find("SELECT id FROM agents WHERE project_id = $1 AND enabled", project.id),
    ]);
  await change("PATCH", `/agents/${agentId}`, { kbIds: [kbId] });
  await change("POST", `/tickets/${ticketId}/reply`, { text: "We ship to Iceland, too." });
  await find("SELECT id FROM documents WHERE id = $1 AND status = 'ready'", documentId);
  await find("SELECT id FROM replies WHERE ticket_id = $1 AND author = 'operator'", ticketId);
  return { kbId, documentId, ticketId, agentId, customerId, tagId, gapId };
}
