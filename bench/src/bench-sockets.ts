// `npm run bench:sockets`: what an idle line of a visitor costs the widget's server, in memory and processor time.
//   npm run bench:sockets -- [--sockets 10000] [--seconds 20]
// Opens so many lines, each of another visitor that has said hello, and prints what the process of the product has grown
// by for each, and how busy it is while nothing happens. Each kind has a product of its own. Linux only; needs as many
// open files as sockets (`ulimit -n`).
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { cpuOf, memoryOf } from "@svc/testing";
import { pause } from "./processes.ts";
import { WIDGET_KEY, startWidgetProduct } from "./product.ts";

const { values } = parseArgs({
  options: { sockets: { type: "string", default: "10000" }, seconds: { type: "string", default: "20" } },
});
const count = Number(values.sockets);
const seconds = Number(values.seconds);
/** Number of connections opened concurrently. */
const AT_ONCE = 50;

/** Sends hello on a plain WebSocket. */
const helloOfPlain = (socket: WebSocket) => {
  socket.send(JSON.stringify({ type: "hello", data: { visitorId: randomUUID(), sinceSeq: 0 } }));
};
/** Sends hello like socket.io's client, on engine.io's WebSocket. */
const helloOfSocketIo = (socket: WebSocket) => {
  socket.send(`40${JSON.stringify({ visitorId: randomUUID(), sinceSeq: 0 })}`);
};

interface Kind {
  query: string;
  hello: (socket: WebSocket) => void;
}
const KINDS: Record<string, Kind> = {
  "plain WebSocket": { query: "", hello: helloOfPlain },
  "socket.io": { query: "&EIO=4&transport=websocket", hello: helloOfSocketIo },
};

/** Opens a connection; resolves on `ready`. Responds to socket.io's pings. */
function openLine(url: string, { query, hello }: Kind): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const address = `${url.replace("http", "ws")}/api/widget/ws?apiKey=${WIDGET_KEY}${query}`;
    const socket = new WebSocket(address, { perMessageDeflate: false });
    socket.once("open", () => hello(socket));
    socket.once("error", reject);
    socket.once("close", (code) => reject(new Error(`a line was closed with ${code}`)));
    socket.on("message", (data: Buffer) => {
      const text = data.toString("utf8");
      if (text === "2") socket.send("3");
      if (text.includes('"ready"')) resolve(socket);
    });
  });
}

async function openLines(url: string, kind: Kind): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  let begun = 0;
  const openSome = async () => {
    while (begun < count) {
      begun++;
      sockets.push(await openLine(url, kind));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSome));
  return sockets;
}

console.log(`${count} idle lines, looked at for ${seconds} s`);
console.log("kind              before   with them   a line   processor while idle");
for (const [name, kind] of Object.entries(KINDS)) {
  const product = await startWidgetProduct({ socketsPerMinute: 100_000 });
  try {
    await pause(5_000);
    const before = memoryOf(product.pid) ?? 0;
    const sockets = await openLines(product.widgetUrl, kind);
    // A chat is polled every second for a minute after its hello, then every five seconds.
    await pause(65_000);
    const cpuBefore = cpuOf({ product: product.pid }).product;
    await pause(seconds * 1_000);
    const cpu = (cpuOf({ product: product.pid }).product - cpuBefore) / seconds / 10;
    const after = memoryOf(product.pid) ?? 0;
    const open = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length;
    if (open !== count) throw new Error(`only ${open} of ${count} lines are still open`);
    const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;
    const each = `${((after - before) / 1024 / count).toFixed(1)} KB`;
    console.log(
      `${name.padEnd(16)} ${megabytes(before).padStart(7)} ${megabytes(after).padStart(11)} ${each.padStart(8)} ${`${cpu.toFixed(0)} % of a core`.padStart(22)}`,
    );
    for (const socket of sockets) socket.terminate();
  } finally {
    await product.stop();
  }
}
