import type { FileReader, PageFetcher } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";

/** What reading documents into knowledge bases needs. */
export interface IngestContext {
  store: Store;
  queues: Queues;
  log: Log;
  reader: FileReader;
  fetcher: PageFetcher;
}
