// The console is served at PREFIX/console/, and the API at PREFIX/: a proxy may have put anything before it.
const prefix = location.pathname.replace(/\/console\/?(index\.html)?$/, '')

/** endpoint is the URL of the server's API, without a final slash. */
export const endpoint = location.origin + prefix

/** consoleApi is the prefix of the sign-in's own requests. */
export const consoleApi = `${endpoint}/console/api`
