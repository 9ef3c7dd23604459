/** Skip is the first focusable element: it leads past the navigation to the page. */
export function Skip() {
  return (
    <button type="button" className="skip" onClick={toPage}>
      Skip to the page
    </button>
  )
}

function toPage() {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (heading) {
    heading.tabIndex = -1
    heading.focus()
  }
}
