import { askForWorst } from './api/queuepage'
import { start, watchLinks } from './aws/session'

// This is small. It asks the server for the session, and for what Home shows, while the browser gets and reads the rest.
const atHome = /^(#k=.*|#\/?(home)?)?$/.test(location.hash)
const started = start()
watchLinks()
void started.then(() => atHome && askForWorst())

/** patience is how long nothing is drawn while the server is asked for the session, in milliseconds. */
const patience = 200
const waited = Promise.race([started, new Promise((resolve) => setTimeout(resolve, patience))])
void Promise.all([import('./draw'), waited]).then(([{ draw }]) => draw())
