import pg from "pg";

const RETRY_MS = 500;

/** The connection of a process that listens for notifications. */
export interface PostgresListener {
  /** Calls `notify` with each notification on a channel, whose name needs no quotes; `onListening` as often as it listens again. */
  listen(channel: string, listener: ChannelListener): void;
  close(): Promise<void>;
}

interface ChannelListener {
  notify: (payload: string) => void;
  /** Called each time the server begins to send: what was sent before was lost. */
  onListening?: () => void;
}

/**
 * Listens on one connection, whatever the number of channels: a connection costs a process of the server, and each
 * notification wakes up every connection that listens. It connects with the first channel, and again after each loss,
 * until it is closed. Rejects nothing: `reportError` is called with what breaks it.
 */
export function createPostgresListener(config: pg.ClientConfig, reportError: (error: Error) => void): PostgresListener {
  const channels = new Map<string, ChannelListener>();
  let client: pg.Client | null = null;
  let isConnected = false;
  let isClosed = false;
  let retryTimer: NodeJS.Timeout | undefined;

  async function listenOn(connected: pg.Client, names: string[]): Promise<void> {
    await connected.query(names.map((name) => `LISTEN ${name}`).join("; "));
    if (client === connected) for (const name of names) channels.get(name)?.onListening?.();
  }

  function reconnectLater(): void {
    client = null;
    isConnected = false;
    if (isClosed) return;
    retryTimer = setTimeout(connect, RETRY_MS);
    retryTimer.unref();
  }

  function connect(): void {
    const made = new pg.Client(config);
    client = made;
    const end = async (error: Error) => {
      reportError(error);
      // A client that never connected emits no "end".
      await made.end().catch(reportError);
      if (client === made) reconnectLater();
    };
    made.on("error", reportError);
    made.on("end", () => {
      if (client === made) reconnectLater();
    });
    made.on("notification", ({ channel, payload = "" }) => channels.get(channel)?.notify(payload));
    made
      .connect()
      .then(() => {
        isConnected = true;
        return listenOn(made, [...channels.keys()]);
      })
      .catch(end);
  }

  return {
    listen(channel, listener) {
      channels.set(channel, listener);
      if (isClosed) return;
      if (client === null && retryTimer === undefined) connect();
      // Its failure also ends the connection, which listens to everything when it is made again.
      else if (client !== null && isConnected) listenOn(client, [channel]).catch(reportError);
    },

    async close() {
      isClosed = true;
      clearTimeout(retryTimer);
      await client?.end();
    },
  };
}
