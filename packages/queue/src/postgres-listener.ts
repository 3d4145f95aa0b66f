import pg from "pg";

const RETRY_MS = 500;

/** The connection of a process that listens for notifications. */
export interface PostgresListener {
  /** Calls `notify` with each notification on a channel, whose name needs no quotes, and `onListening` after each reconnect. */
  listen(channel: string, listener: ChannelListener): void;
  close(): Promise<void>;
}

interface ChannelListener {
  notify: (payload: string) => void;
  /** Called each time the connection begins to listen: earlier notifications were lost. */
  onListening?: () => void;
}

/**
 * Listens on one connection for all channels: a connection costs a server process, and each notification wakes up every
 * connection that listens. Connects with the first channel, and reconnects until it is closed. Reports connection
 * errors to `reportError`.
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
      else if (client !== null && isConnected) {
        const connected = client;
        listenOn(connected, [channel]).catch(async (error: Error) => {
          reportError(error);
          // The next connection listens on all channels.
          await connected.end().catch(reportError);
        });
      }
    },

    async close() {
      isClosed = true;
      clearTimeout(retryTimer);
      await client?.end();
    },
  };
}
