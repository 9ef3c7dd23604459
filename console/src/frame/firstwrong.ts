import { openDialog } from './dialog'

/** goToFirstWrong gives the first field that is marked as wrong the focus, once the marks are drawn: it may be out of sight. */
export function goToFirstWrong() {
  setTimeout(() => {
    const form = openDialog() ?? document
    form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  })
}
