// The published client of the Model Context Protocol finds the identity provider by itself, and gets a token there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { discoverOAuthProtectedResourceMetadata, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { URL: address, ISSUER, OIDC_SECRET } = process.env;

// somebody is a person with a client that the provider knows.
const somebody = () => {
  const kept = {};
  return {
    kept,
    redirectUrl: "http://127.0.0.1/callback",
    clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"] },
    clientInformation: () => ({ client_id: "svc", client_secret: OIDC_SECRET, issuer: ISSUER }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
    redirectToAuthorization: (url) => { kept.page = url; },
  };
};

test("discovers the resource", async () => {
  const found = await discoverOAuthProtectedResourceMetadata(address);
  assert.equal(found.resource, address);
  assert.deepEqual(found.authorization_servers, [ISSUER]);
  assert.deepEqual(found.scopes_supported, ["openid", "profile", "email"]);
});

test("logs in and lists tools", async () => {
  const person = somebody();
  const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: person });
  await assert.rejects(new Client({ name: "test", version: "1" }).connect(transport), UnauthorizedError);
  assert.equal(person.kept.page.searchParams.get("resource"), address);
  assert.equal(person.kept.page.searchParams.get("scope"), "openid profile email");

  const back = await fetch(person.kept.page, { redirect: "manual" });
  await transport.finishAuth(new URL(back.headers.get("location")).searchParams.get("code"));
  const claims = JSON.parse(Buffer.from(person.kept.tokens.access_token.split(".")[1], "base64url"));
  assert.equal(claims.aud, address);

  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { authProvider: person }));
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === "run_command"));
  await client.close();

  const elsewhere = await fetch(new URL("/auth/whoami", address), { headers: { Authorization: `Bearer ${person.kept.tokens.access_token}` } });
  assert.equal(elsewhere.status, 401);
});
