// What is outside of the composition, for infra/smoke.sh: a fake Bot API of Telegram and a receiver of callbacks, which
// containers reach by the address of this machine, and a port for the script that says what they got.
// Usage: node outside.mjs BOT_API_PORT RECEIVER_PORT CONTROL_PORT
import { createServer } from "node:http";
import { connect, createServer as createLine } from "node:net";
import { startFakeBotApi } from "../../packages/testing/dist/index.js";

const [botApiPort, receiverPort, controlPort] = process.argv.slice(2).map(Number);
const api = await startFakeBotApi();
const bot = api.addBot();
const callbacks = [];

async function textOf(request) {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return text;
}

// The fake listens on loopback alone, which is another place in a container.
const line = createLine((outer) => {
  const inner = connect(Number(new URL(api.url).port), "127.0.0.1");
  outer.pipe(inner).pipe(outer);
  for (const [one, other] of [
    [outer, inner],
    [inner, outer],
  ]) {
    one.on("error", () => other.destroy());
  }
}).listen(botApiPort, "0.0.0.0");

/** A server that answers with status and text. */
function serve(answer) {
  return createServer((request, response) => {
    textOf(request)
      .then((text) => answer(request, text))
      .then(({ status, text }) => response.writeHead(status).end(text))
      .catch((error) => response.writeHead(500).end(String(error)));
  });
}

const receiver = serve(({ headers }, body) => {
  callbacks.push({ headers, body });
  return { status: 200, text: "ok" };
}).listen(receiverPort, "0.0.0.0");

const ROUTES = {
  "GET /token": () => bot.token,
  "GET /sent": () => JSON.stringify(bot.sent),
  "GET /callbacks": () => JSON.stringify(callbacks),
  "POST /write": (text) => JSON.stringify(bot.write({ text })),
};
const control = serve(({ method, url }, body) => {
  const route = ROUTES[`${method} ${url}`];
  return route === undefined ? { status: 404, text: "" } : { status: 200, text: route(body) };
}).listen(controlPort, "127.0.0.1");

process.on("SIGTERM", () => {
  for (const server of [line, receiver, control]) server.close();
  api.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
