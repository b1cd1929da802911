// A certified OpenID Connect provider for tests. The argument is JSON: the client's id, secret and
// addresses, and the users' claims by their name. It prints its issuer identifier and ends with
// its stdin.
import http from 'node:http'
import Provider from 'oidc-provider'

const { client, users } = JSON.parse(process.argv[2])

let handler
const server = http.createServer((request, response) => handler(request, response))
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        ...client,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    conformIdTokenClaims: false, // groups in the ID token
    cookies: { keys: ['for tests'] },
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true }, // a page to log in with any password
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx, client, oneOf) => oneOf ?? [],
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'api',
          audience: 'api',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
      revocation: { enabled: true },
    },
    // Without the dispatcher, which refuses addresses of this host.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    findAccount: (ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, ...users[id] }),
    }),
    loadExistingGrant: async (ctx) => {
      // Nobody is asked whether the client may know who they are.
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      })
      grant.addOIDCScope('openid profile offline_access')
      await grant.save()
      return grant
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: { AccessToken: 300, RefreshToken: 3600 },
  })
  provider.on('backchannel.error', (ctx, err) => console.error(err))
  handler = provider.callback()
  console.log(issuer)
})

process.stdin.on('end', () => process.exit(0)).resume()
