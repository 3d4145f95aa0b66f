import { ServiceError } from "@svc/contracts";
import type { OidcConfig } from "@svc/runtime";

/** What has to be remembered between the way to the provider and the way back. */
export interface OidcCheck {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
}

/** Who has come back, as the provider says it. */
export interface OidcPerson {
  email: string;
  name: string;
}

/** Single sign-on by OpenID Connect: authorization code with PKCE, state and nonce. */
export interface OidcClient {
  /** What people know the provider by. */
  name: string;
  createRole: OidcConfig["createRole"];
  /** Where the browser goes to sign in, and what to remember until it comes back. Throws unavailable. */
  begin(redirectUri: string): Promise<{ url: URL; check: OidcCheck }>;
  /**
   * Who has come back at this address, with its query. Throws sign_in_failed for an answer that is not right or whose
   * e-mail address the provider has not verified, unavailable while the provider cannot be reached.
   */
  finish(returned: URL, check: OidcCheck): Promise<OidcPerson>;
}

/** How long the provider may take for each answer, in seconds. */
const TIMEOUT_SECONDS = 10;

const isLoopback = (host: string) => host === "localhost" || host === "127.0.0.1" || host === "[::1]";

/** Makes the client of a provider; it is asked for its metadata with the first sign-in, and again after a fault. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function openOidc({ issuer, clientId, clientSecret, name, createRole }: OidcConfig): OidcClient {
  const load = () => import("openid-client");
  type Library = Awaited<ReturnType<typeof load>>;
  let opening: Promise<{ library: Library; config: InstanceType<Library["Configuration"]> }> | undefined;

  async function open() {
    const library = await load();
    const server = new URL(issuer);
    // A provider on this machine, as one tries it with, need not have a certificate; no other one goes without.
    const execute = isLoopback(server.hostname) ? [library.allowInsecureRequests] : [];
    const options = { execute, timeout: TIMEOUT_SECONDS };
    const config = await library.discovery(server, clientId, clientSecret, undefined, options);
    return { library, config };
  }

  function opened() {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw new ServiceError("unavailable", "The single sign-on provider is unreachable. Try again.", {
        headers: { "Retry-After": "10" },
        cause: error,
      });
    });
    return opening;
  }

  return {
    name,
    createRole,
    async begin(redirectUri) {
      const { library, config } = await opened();
      const verifier = library.randomPKCECodeVerifier();
      const check = { state: library.randomState(), nonce: library.randomNonce(), verifier, redirectUri };
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid email profile",
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state: check.state,
        nonce: check.nonce,
      });
      return { url, check };
    },
    async finish(returned, check) {
      const { library, config } = await opened();
      // What the provider has sent the browser back to, whatever proxies have made of the address.
      const address = new URL(check.redirectUri);
      address.search = returned.search;
      try {
        const tokens = await library.authorizationCodeGrant(config, address, {
          pkceCodeVerifier: check.verifier,
          expectedState: check.state,
          expectedNonce: check.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        const subject = claims?.sub ?? "";
        // Some providers say the e-mail address only there.
        const reason =
          typeof claims?.["email"] === "string" || config.serverMetadata().userinfo_endpoint === undefined
            ? claims
            : await library.fetchUserInfo(config, tokens.access_token, subject);
        const email: unknown = reason?.["email"];
        if (typeof email !== "string" || reason?.["email_verified"] !== true) {
          throw new ServiceError("sign_in_failed", "The single sign-on provider has not verified your email address.");
        }
        const called: unknown = reason["name"];
        return { email, name: typeof called === "string" && called.trim() !== "" ? called : email };
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new ServiceError(
          "sign_in_failed",
          "The single sign-on provider returned an invalid response. Sign in again.",
          {
            cause: error,
          },
        );
      }
    },
  };
}
