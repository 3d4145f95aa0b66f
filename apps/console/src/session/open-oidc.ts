import { ServiceError } from "@svc/contracts";
import type { OidcConfig } from "@svc/runtime";

/** State between the redirect to the provider and the redirect back. */
export interface OidcCheck {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
}

/** A signed-in person, according to the provider. */
export interface OidcPerson {
  email: string;
  name: string;
}

/** Single sign-on by OpenID Connect: authorization code with PKCE, state and nonce. */
export interface OidcClient {
  /** Display name of the provider. */
  name: string;
  createRole: OidcConfig["createRole"];
  /** Returns the URL for the sign-in, and the state to store until the redirect back. Throws unavailable. */
  begin(redirectUri: string): Promise<{ url: URL; check: OidcCheck }>;
  /**
   * Returns the person who was redirected to this URL, with its query. Throws sign_in_failed for an invalid response or
   * an email address that the provider has not verified, unavailable while the provider is unreachable.
   */
  finish(returned: URL, check: OidcCheck): Promise<OidcPerson>;
}

/** Time limit for each response of the provider, in seconds. */
const TIMEOUT_SECONDS = 10;

const isLoopback = (host: string) => host === "localhost" || host === "127.0.0.1" || host === "[::1]";

/** Creates the client of a provider; its metadata is requested with the first sign-in, and again after an error. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function openOidc({ issuer, clientId, clientSecret, name, createRole }: OidcConfig): OidcClient {
  const load = () => import("openid-client");
  type Library = Awaited<ReturnType<typeof load>>;
  let opening: Promise<{ library: Library; config: InstanceType<Library["Configuration"]> }> | undefined;

  async function open() {
    const library = await load();
    const server = new URL(issuer);
    // A provider on this machine, for trials, needs no certificate; all others do.
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
      // The redirect URI that was sent to the provider, even if proxies have changed the URL.
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
        // Some providers return the email address only there.
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
