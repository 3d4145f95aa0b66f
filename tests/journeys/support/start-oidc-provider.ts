import { once } from "node:events";
import { createServer } from "node:http";
import { freePort } from "@svc/testing";
import { Provider } from "oidc-provider";

/** A provider of single sign-on, which lets everybody in under the name that they give. */
export interface OidcProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Whether it says that it has verified the e-mail addresses of people. True at first. */
  verifiesEmails(does: boolean): void;
  close(): Promise<void>;
}

const CLIENT = { id: "svc-console", secret: "a-secret-of-the-client-0123456789" };

/** Starts a real OpenID Connect provider that knows a console by where it lets people come back to. */
export async function startOidcProvider(redirectUri: string): Promise<OidcProvider> {
  let isVerified = true;
  const server = createServer();
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    claims: { email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: isVerified, name: `Person ${id.split("@")[0]}` }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ["a-key-of-the-provider"] },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => void answer(request, response));
  return {
    issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    verifiesEmails(does) {
      isVerified = does;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
