import { openDialog } from './dialog'

/** goToFirstWrong focuses the first field with an error once the errors are drawn: it may be out of sight. */
export function goToFirstWrong() {
  setTimeout(() => {
    const form = openDialog() ?? document
    form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  })
}
