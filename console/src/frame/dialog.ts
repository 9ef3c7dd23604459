/**
 * openDialog returns the dialog that is open, if one is. Cloudscape's lists with a search field are dialogs, too, which stay on
 * the page while they are closed.
 */
export function openDialog(): Element | null {
  return document.querySelector('[role=dialog]:not([aria-hidden=true])')
}
