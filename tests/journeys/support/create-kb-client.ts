import type { DocumentItem, ImportItem, KbHit, KbItem } from "@svc/contracts";
import { newId } from "@svc/store";
import { waitFor } from "@svc/testing";
import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";
import type { ApiRequest } from "./call-api.ts";
import type { Product } from "./start-product.ts";

interface AdminBody<Item> {
  item: Item;
  items: Item[];
}

/** Return the knowledge base or document of a response. */
export const kbOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<KbItem>).item;
export const documentOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<DocumentItem>).item;
export const importOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<ImportItem>).item;
/** Return the items of a list. */
export const kbsOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<KbItem>).items;
export const documentsOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<DocumentItem>).items;
export const importsOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<ImportItem>).items;
const hitsOf = ({ body }: ApiAnswer) => (body as unknown as AdminBody<KbHit>).items;
/** Returns the cursor of the next page. */
export const cursorOf = (answer: ApiAnswer) => (answer.body as unknown as { nextCursor: string | null }).nextCursor;

/** The endpoints of knowledge bases, called as an administrator. */
export type KbClient = ReturnType<typeof createKbClient>;

/** Returns a client of the processes that the product has at the time of each call, for one project. */
export function createKbClient(product: Product, project = "default") {
  /** Calls a path below `/api/v1/admin/kb`. */
  async function call(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    const [url = ""] = product.composition.apiUrls;
    return callApi(`${url}/api/v1/admin/kb${path}`, { key: product.adminKey, project, ...request });
  }

  async function readDocument(kbId: string, id: string): Promise<DocumentItem> {
    return documentOf(await call(`/${kbId}/documents/${id}`));
  }

  return {
    call,
    readDocument,

    /** Creates a knowledge base with a unique name. */
    async makeKb(): Promise<KbItem> {
      return kbOf(await call("", { json: { name: `kb ${newId()}` } }));
    },

    /** Adds a document given as JSON. */
    add: (kbId: string, json: object, request: ApiRequest = {}) => call(`/${kbId}/documents`, { json, ...request }),

    /** Uploads the bytes of a file. */
    upload: (
      kbId: string,
      query: string,
      body: string | Uint8Array<ArrayBuffer>,
      type = "application/octet-stream",
      request: ApiRequest = {},
    ) => call(`/${kbId}/documents${query}`, { body, headers: { "Content-Type": type }, ...request }),

    /** Waits until a document is no longer queued. */
    settled: (kbId: string, id: string, timeoutMs = 30_000) =>
      waitFor(
        async () => {
          const document = await readDocument(kbId, id);
          return document.status !== "queued" && document;
        },
        { what: `document ${id} to be read`, timeoutMs },
      ),

    /** Waits until an import has ended. */
    importSettled: (kbId: string, id: string, timeoutMs = 30_000) =>
      waitFor(
        async () => {
          const item = importOf(await call(`/${kbId}/imports/${id}`));
          return (item.status === "ready" || item.status === "failed") && item;
        },
        { what: `import ${id} to end`, timeoutMs },
      ),

    /** Returns the results of a search. */
    async search(kbId: string, q: string, more = ""): Promise<KbHit[]> {
      return hitsOf(await call(`/${kbId}/search?q=${encodeURIComponent(q)}${more}`));
    },
  };
}
