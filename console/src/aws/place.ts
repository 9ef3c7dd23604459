// The console is served at PREFIX/console/, and the API at PREFIX/: a proxy may have put anything before it.
const prefix = location.pathname.replace(/\/console\/?(index\.html)?$/, '')

/** endpoint is where the API of the server is, without a slash at its end. */
export const endpoint = location.origin + prefix

/** consoleApi is below what the sign-in's own requests are. */
export const consoleApi = `${endpoint}/console/api`
