import { once } from "node:events";
import { createServer } from "node:http";
import { freePort } from "@svc/testing";
import { Provider } from "oidc-provider";

/** A single sign-on provider that accepts everyone under any name. */
export interface OidcProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Sets whether it reports email addresses as verified. Initially true. */
  verifiesEmails(does: boolean): void;
  close(): Promise<void>;
}

const CLIENT = { id: "svc-console", secret: "a-secret-of-the-client-0123456789" };

/** Starts a real OpenID Connect provider that knows the console's redirect URI. */
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
